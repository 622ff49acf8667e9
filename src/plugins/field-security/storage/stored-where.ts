import type { AnyEntity } from "../../../entity/index.ts";
import { BadRequestError, type EntityRef, entityName, WHERE_DEPTH, type Where } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import type { EncryptedColumn, EncryptionPlan } from "./encryption-plan.ts";

const LOGIC: ReadonlySet<string> = new Set(["AND", "OR", "NOT"]);

/**
 * A where as it can be asked of what is stored: conditions on values of encrypted fields become conditions on their
 * blind indexes. Whether there is a value at all the field's own column knows.
 * @param searched takes the names of the entity's columns whose values a record is found by
 * @throws BadRequestError for a comparison with an encrypted field that is not searchable
 */
export function storedWhere<W extends Where | undefined>(
  plan: EncryptionPlan,
  ref: EntityRef,
  where: W,
  searched?: Set<string>,
): W {
  const entity = where === undefined || !plan.reaches(ref) ? undefined : plan.model.get(entityName(ref));
  return entity === undefined ? where : (rewrite(plan, entity, where, searched) as W);
}

function rewrite(plan: EncryptionPlan, entity: AnyEntity, where: unknown, searched?: Set<string>, depth = 1): unknown {
  // What is no plain object, or too deep, is refused by the driver, with the words it has for it; so are names like __proto__.
  if (depth > WHERE_DEPTH || !isPlainObject(where)) return where;
  const columns = plan.columnsOf(entity);
  const stored = Object.create(null) as Record<string, unknown>;
  const extra: Where[] = [];
  for (const [name, value] of Object.entries(where)) {
    if (LOGIC.has(name)) {
      const found = name === "NOT" ? undefined : searched;
      stored[name] = Array.isArray(value)
        ? value.map((part) => rewrite(plan, entity, part, found, depth + 1))
        : rewrite(plan, entity, value, found, depth + 1);
      continue;
    }
    const column = columns?.find((encrypted) => encrypted.name === name);
    if (column !== undefined) extra.push(...storedConditions(plan, entity, column, value, searched));
    else if (value === null || Object.hasOwn(entity.columns, name)) stored[name] = value;
    else {
      const target = plan.model.relation(entity, name)?.target;
      stored[name] = target === undefined ? value : rewrite(plan, target, value, undefined, depth + 1);
    }
  }
  if (extra.length === 0) return stored;
  return Object.keys(stored).length === 0 && extra.length === 1 ? extra[0] : { AND: [stored, ...extra] };
}

/** What is asked of one encrypted column. What nobody can ask of it is left to the driver to refuse, by the field's name. */
function storedConditions(
  plan: EncryptionPlan,
  entity: AnyEntity,
  column: EncryptedColumn,
  value: unknown,
  searched: Set<string> | undefined,
): Where[] {
  const { name, index } = column;
  const operators = isPlainObject(value)
    ? Object.entries(value)
    : [[Array.isArray(value) ? "in" : "eq", value] as const];
  if (operators.length === 0) return [{ [name]: value }];
  const digest = (one: unknown): string => {
    if (index === undefined)
      throw new BadRequestError(
        `where on ${entity.name}: "${name}" is encrypted; only .encrypted({ searchable: true }) can be compared`,
      );
    return blindIndex(plan.ring, { entity: entity.name, field: name }, one as string);
  };
  return operators.map(([operator, operand]): Where => {
    switch (operator) {
      case "eq":
      case "ne":
        if (operand === undefined) break;
        if (operand === null) return { [name]: { null: operator === "eq" } };
        if (operator === "eq") searched?.add(name);
        return { [index ?? name]: { [operator]: digest(operand) } };
      case "in":
      case "nin": {
        if (!Array.isArray(operand) || operand.includes(undefined)) break;
        if (operator === "in") searched?.add(name);
        const values = operand.filter((one) => one !== null);
        const isOne: Where = { [index ?? name]: { [operator]: values.map(digest) } };
        if (values.length === operand.length) return isOne;
        const isNull: Where = { [name]: { null: operator === "in" } };
        return operator === "in" ? { OR: [isOne, isNull] } : { AND: [isOne, isNull] };
      }
    }
    return { [name]: { [operator]: operand } };
  });
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
