import type { AnyEntity, ColumnDefinition, ResolvedRelation } from "../../entity/index.ts";
import { InternalError } from "../../kernel/index.ts";
import { allOf } from "../condition/compile-where.ts";
import {
  ALWAYS,
  and,
  type Condition,
  compare,
  type Leaf,
  NEVER,
  not,
  or,
  type Related,
  type Row,
  related,
  type Where,
} from "../condition/condition.ts";
import { isUndecryptable, matches } from "../condition/matches.ts";
import type { FurtherWrite, PairChange } from "../operation/further-write.ts";
import type { Guard } from "../operation/mask.ts";
import type { Driver } from "../statement/driver-port.ts";

/**
 * Evaluates a condition on a record that is not stored yet. Returns `ALWAYS`, `NEVER`, or the part that must be checked
 * on stored records: `and`, `or`, and possibly negated belongsTo relations whose keys have values. Its own columns are
 * compared here, and no stored record refers to it. Values that could not be decrypted or that the database will fill
 * in meet no condition.
 */
export function askedOfStored(condition: Condition, row: Row): Condition {
  if (condition.op === "and" || condition.op === "or") {
    const [skipped, settling] = condition.op === "and" ? [ALWAYS, NEVER] : [NEVER, ALWAYS];
    const parts: Condition[] = [];
    for (const part of condition.of) {
      const left = askedOfStored(part, row);
      if (left === settling) return settling;
      if (left !== skipped) parts.push(left);
    }
    if (parts.length === 0) return skipped;
    return condition.op === "and" ? and(parts) : or(parts);
  }
  const leaf = leafOf(condition);
  if (leaf?.op === "related" && refersTo(leaf, row)) return condition;
  if (leaf?.op === "compare" && (isUndecryptable(row, leaf.column.name) || isLeftToDatabase(row, leaf.column)))
    return NEVER;
  return matches(condition, row, () => []) ? ALWAYS : NEVER;
}

/** Whether the value of a column is known only once the record is stored. */
function isLeftToDatabase(row: Row, { name, role, field }: ColumnDefinition): boolean {
  return row[name] === undefined && (field?.filledBy !== undefined || role === "id" || role === "words");
}

/** A guard about a new record. A rule that reads a value which is known only once the record is stored gets an error. */
export function guardOfNew(entity: AnyEntity, row: Row, guard: Guard): Guard {
  const record = new Proxy(row, {
    get(target, name) {
      const column = typeof name === "string" && Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
      if (column !== undefined && isLeftToDatabase(row, column))
        throw new InternalError(`${entity.name}.${column.name} is known only once the record is stored`);
      return Reflect.get(target, name);
    },
  });
  return () => guard(record);
}

/** The comparison or relation of a condition that consists of one, possibly negated. */
function leafOf(condition: Condition): Leaf | undefined {
  if (condition.op === "not") return condition.of;
  return condition.op === "compare" || condition.op === "related" ? condition : undefined;
}

function refersTo({ relation: { type, foreignKey } }: Related, row: Row): boolean {
  return type === "belongsTo" && (row[foreignKey as string] ?? null) !== null;
}

/**
 * Checks the condition that `askedOfStored` returned, for drivers whose `create` takes no condition.
 * @param left the condition returned for this record
 */
export async function storedMeet(driver: Driver, left: Condition, row: Row): Promise<boolean> {
  if (left.op === "and" || left.op === "or") {
    const isAll = left.op === "and";
    for (const part of left.of) if ((await storedMeet(driver, part, row)) !== isAll) return !isAll;
    return isAll;
  }
  const leaf = leafOf(left);
  if (leaf?.op !== "related") return left === ALWAYS;
  const { relation, matches: asked } = leaf;
  const where = allOf({ id: row[relation.foreignKey as string] }, asked);
  const found = await driver.findOne(relation.target, where, { select: ["id"] });
  return (found !== null) === (left.op === "related");
}

/**
 * Changes the related records of a condition, at any depth, so that writes do not count: the condition then has the
 * result that it would have without them.
 * @param writes in their order; of several writes of one record, the first one has its earlier values
 */
export async function asBeforeWrites(
  driver: Driver,
  condition: Condition,
  writes: readonly FurtherWrite[],
): Promise<Condition> {
  const changed = (part: Condition): Promise<Condition> => asBeforeWrites(driver, part, writes);
  switch (condition.op) {
    case "and":
      return and(await Promise.all(condition.of.map(changed)));
    case "or":
      return or(await Promise.all(condition.of.map(changed)));
    case "not":
      return not(await changed(condition.of));
    case "related": {
      const { relation, matches } = condition;
      const asked = await changed(matches);
      const { id } = relation.target.columns;
      const written = writesById(relation.target, writes);
      const others = [...written.keys()].map((one) => not(compare(id as ColumnDefinition, "eq", one)));
      const ways: Condition[] = [related(relation, and([asked, ...others]))];
      for (const { before, pairs = [] } of written.values())
        if (before !== null && (await meetsChanged(driver, asked, before, pairs)))
          ways.push(leadsTo(relation, before, pairs));
      return or(ways);
    }
    default:
      return condition;
  }
}

/** All writes of each record of an entity as one, by its id: with the record before the first, and all changes of pairs. */
export function writesById(entity: AnyEntity, writes: readonly FurtherWrite[]): ReadonlyMap<unknown, FurtherWrite> {
  const found = new Map<unknown, FurtherWrite>();
  for (const one of writes) {
    if (one.entity !== entity) continue;
    const first = found.get(one.id);
    found.set(one.id, first === undefined ? one : { ...first, pairs: joined(first.pairs ?? [], one.pairs ?? []) });
  }
  return found;
}

/** Two changes of pairs as one: a pair that is added and removed has not changed. */
function joined(first: readonly PairChange[], second: readonly PairChange[]): readonly PairChange[] {
  const sameAs =
    ({ relation }: PairChange) =>
    (one: PairChange): boolean =>
      one.relation.source === relation.source && one.relation.name === relation.name;
  const changes = first.map((change): PairChange => {
    const { added = [], removed = [] } = second.find(sameAs(change)) ?? {};
    return {
      relation: change.relation,
      added: [
        ...change.added.filter((id) => !removed.includes(id)),
        ...added.filter((id) => !change.removed.includes(id)),
      ],
      removed: [
        ...change.removed.filter((id) => !added.includes(id)),
        ...removed.filter((id) => !change.added.includes(id)),
      ],
    };
  });
  return [...changes, ...second.filter((change) => !first.some(sameAs(change)))];
}

/** The condition that a relation leads to a record, by the record's values. */
function leadsTo(relation: ResolvedRelation, record: Row, pairs: readonly PairChange[]): Condition {
  const { type, source, target, foreignKey } = relation;
  if (type === "belongsTo") return compare(source.columns[foreignKey as string] as ColumnDefinition, "eq", record.id);
  if (type === "manyToMany") {
    const own = related(relation, compare(target.columns.id as ColumnDefinition, "eq", record.id));
    const change = pairs.find((one) => one.relation.target === source && one.relation.inverse === relation.name);
    if (change === undefined) return own;
    return or([and([own, not(idIn(source, change.added))]), idIn(source, change.removed)]);
  }
  const id = record[foreignKey as string] ?? null;
  return id === null ? NEVER : compare(source.columns.id as ColumnDefinition, "eq", id);
}

const NO_PAIRS: Pick<PairChange, "added" | "removed"> = { added: [], removed: [] };

function idIn({ columns }: AnyEntity, ids: readonly string[]): Condition {
  return ids.length === 0 ? NEVER : compare(columns.id as ColumnDefinition, "in", ids);
}

/**
 * Whether a stored record would meet a condition with changed values. Checked against the database before the write, so
 * that a record cannot vouch for its own change: a membership that moves to another group does not make its user a
 * member of that group in advance.
 * @param changed the stored record with the new values
 * @param pairs changes of its pairs, which do not count @default none
 */
export async function meetsChanged(
  driver: Driver,
  condition: Condition,
  changed: Row,
  pairs: readonly PairChange[] = [],
): Promise<boolean> {
  if (condition.op === "and" || condition.op === "or") {
    const isAll = condition.op === "and";
    for (const part of condition.of) if ((await meetsChanged(driver, part, changed, pairs)) !== isAll) return !isAll;
    return isAll;
  }
  const leaf = leafOf(condition);
  if (leaf?.op !== "related") return askedOfStored(condition, changed) === ALWAYS;
  if (refersTo(leaf, changed)) return storedMeet(driver, condition, changed);
  const isWanted = condition.op === "related";
  const { relation, matches: asked } = leaf;
  if (relation.type === "belongsTo") return !isWanted;
  const finds = async (entity: AnyEntity, ...wheres: readonly Where[]): Promise<boolean> =>
    (await driver.findOne(entity, allOf(...wheres), { select: ["id"] })) !== null;
  const { added, removed } = pairs.find((one) => one.relation === relation) ?? NO_PAIRS;
  const others = added.length === 0 ? asked : and([asked, not(idIn(relation.target, added))]);
  const isMet =
    (await finds(relation.source, { id: changed.id }, related(relation, others))) ||
    (removed.length > 0 && (await finds(relation.target, { id: { in: removed } }, asked)));
  return isMet === isWanted;
}
