import type { Driver, Row, Where } from "../ports/driver.ts";
import { isUndecryptable } from "../records/undecryptable.ts";
import { ALWAYS, allOf, type Condition, NEVER } from "./condition.ts";
import { matches } from "./matches.ts";

type Related = Condition & { readonly kind: "related" };

/**
 * What a condition on a record that is not stored yet comes to: `ALWAYS`, `NEVER`, or what is left to ask of the stored
 * records that it refers to: `and`, `or` and `related` over belongsTo relations whose keys have values. Its own columns
 * are compared here, and no stored record refers to it. A value that could not be decrypted meets no condition.
 */
export function askedOfStored(condition: Condition, row: Row): Condition {
  if ("parts" in condition) {
    const [skipped, settling] = condition.kind === "and" ? [ALWAYS, NEVER] : [NEVER, ALWAYS];
    const parts: Condition[] = [];
    for (const part of condition.parts) {
      const left = askedOfStored(part, row);
      if (left === settling) return settling;
      if (left !== skipped) parts.push(left);
    }
    if (parts.length < 2) return parts[0] ?? skipped;
    return { kind: condition.kind, parts };
  }
  if (condition.kind !== "related") {
    if (isUndecryptable(row, condition.column.name)) return NEVER;
  } else if (refersTo(condition, row)) return condition;
  return matches(condition, row, () => []) ? ALWAYS : NEVER;
}

function refersTo({ relation: { type, foreignKey } }: Related, row: Row): boolean {
  return type === "belongsTo" && (row[foreignKey as string] ?? null) !== null;
}

/**
 * Asks a driver what `askedOfStored` has left over, for drivers whose `create` takes no condition.
 * @param left for this record
 */
export async function storedMeet(driver: Driver, left: Condition, row: Row): Promise<boolean> {
  if ("parts" in left) {
    const isAll = left.kind === "and";
    for (const part of left.parts) if ((await storedMeet(driver, part, row)) !== isAll) return !isAll;
    return isAll;
  }
  const { relation, quantifier, where } = left as Related;
  const asked = allOf({ id: row[relation.foreignKey as string] }, toWhere(where));
  const found = await driver.findOne(relation.target, asked, { select: ["id"] });
  return (found !== null) === (quantifier === "some");
}

/**
 * Whether a stored record would meet a condition with other values. The database is asked as it is before they are written,
 * so a record never vouches for its own change: a membership that moves to another group does not make its user a member
 * of that group beforehand.
 * @param changed the stored record with the new values
 */
export async function meetsChanged(driver: Driver, condition: Condition, changed: Row): Promise<boolean> {
  if ("parts" in condition) {
    const isAll = condition.kind === "and";
    for (const part of condition.parts) if ((await meetsChanged(driver, part, changed)) !== isAll) return !isAll;
    return isAll;
  }
  if (condition.kind !== "related") return askedOfStored(condition, changed) === ALWAYS;
  const { relation, quantifier, where } = condition;
  if (refersTo(condition, changed)) return storedMeet(driver, condition, changed);
  if (relation.type === "belongsTo") return quantifier === "none";
  const asked = { id: changed.id, [relation.name]: toWhere(where) };
  return ((await driver.findOne(relation.source, asked, { select: ["id"] })) !== null) === (quantifier === "some");
}

/** A condition in the words it was compiled from. */
function toWhere(condition: Condition): Where {
  switch (condition.kind) {
    case "and":
      return { AND: condition.parts.map(toWhere) };
    case "or":
      return { OR: condition.parts.map(toWhere) };
    case "null":
      return { [condition.column.name]: { null: !condition.negated } };
    case "related": {
      const related = { [condition.relation.name]: toWhere(condition.where) };
      return condition.quantifier === "some" ? related : { NOT: related };
    }
    case "compare": {
      const { column, operator, value, negated } = condition;
      const plain = { [column.name]: { [operator]: value } };
      return negated ? { NOT: plain } : plain;
    }
  }
}
