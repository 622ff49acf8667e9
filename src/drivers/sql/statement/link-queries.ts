import type { CompiledQuery } from "kysely";
import type { AnyEntity, ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import { and, type Condition, compare, isAlways, or } from "../../../gate/index.ts";
import { ConditionBuilder } from "../condition/build-condition.ts";
import { codecOf } from "../condition/column-codec.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { Slots, WHOLE_NUMBER } from "../condition/sql-builder.ts";
import { linkTable, pairSource } from "../tables/link-table.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";
import { type NamedQuery, type SqlConnection, toStatement } from "./sql-connection.ts";

/** The name of the records at the other end in a statement; entities cannot have this name. */
const FAR = "_far";
/** INSERTs with more pairs are not cached: they are rare and long. */
const MAX_KEPT_PAIRS = 4;

/** A condition on a column of a table of pairs, which contains ids of an entity. */
function endIn({ columns }: AnyEntity, name: string, ids: string | readonly string[]): Condition {
  const column = { ...(columns.id as ColumnDefinition), name, stored: name };
  return typeof ids === "string" ? compare(column, "eq", ids) : compare(column, "in", ids);
}

/** The statement that reads pairs: the ids of the near end, then those of the far end. */
export function linksQuery(
  { builder, statements }: SqlConnection,
  relation: ResolvedRelation,
  ids: readonly string[],
  condition: Condition,
  limit: number,
): NamedQuery {
  const { db, sql, provider } = builder;
  const link = linkTable(relation);
  const { called, own, other } = link;
  const near = endIn(relation.source, own, ids);
  const isBounded = Number.isFinite(limit);
  const values: unknown[] = [];
  const nearShape = conditionShape(near, provider, values);
  const shape = `links ${link.table} ${nearShape} ${conditionShape(condition, provider, values)} ${isBounded}`;
  if (isBounded) values.push(limit);
  const write = (): CompiledQuery => {
    const slots = new Slots();
    const conditions = new ConditionBuilder(builder, slots);
    let query = db.selectFrom(pairSource(link)).select([own, other]).where(conditions.build(near, called));
    if (!isAlways(condition)) {
      const far = db
        .selectFrom(sourceOf(relation.target, FAR))
        .select(sql.lit(1).as("one"))
        .where(sql<boolean>`${sql.id(FAR, storedName(relation.target, "id"))} = ${sql.id(called, other)}`)
        .where(conditions.build(condition, FAR));
      query = query.where(sql<boolean>`exists ${far}`);
    }
    if (isBounded) query = query.limit(sql<number>`${slots.next(WHOLE_NUMBER)}`);
    return query.compile();
  };
  return statements.get(shape, write).query(values);
}

/** The statement that locks the pairs of records of an entity, at either end. */
export function lockPairsQuery(
  { builder, statements }: SqlConnection,
  relation: ResolvedRelation,
  entity: AnyEntity,
  ids: readonly string[],
): NamedQuery {
  const link = linkTable(relation);
  const ends = [...(relation.source === entity ? [link.own] : []), ...(relation.target === entity ? [link.other] : [])];
  const condition = or(ends.map((end) => endIn(entity, end, ids)));
  const values: unknown[] = [];
  const shape = `lock ${link.table} ${conditionShape(condition, builder.provider, values)}`;
  const write = (): CompiledQuery =>
    builder.db
      .selectFrom(pairSource(link))
      .select(builder.sql.lit(1).as("one"))
      .where(new ConditionBuilder(builder, new Slots()).build(condition, link.called))
      .orderBy(link.own)
      .orderBy(link.other)
      .forUpdate()
      .compile();
  return statements.get(shape, write).query(values);
}

/** The statement that adds pairs; existing pairs are kept. */
export function linkQuery(
  { builder, statements }: SqlConnection,
  relation: ResolvedRelation,
  id: string,
  targets: readonly string[],
): NamedQuery {
  const { db, sql, provider } = builder;
  const { table, own, other } = linkTable(relation);
  const near = codecOf(provider, relation.source.columns.id as ColumnDefinition);
  const far = codecOf(provider, relation.target.columns.id as ColumnDefinition);
  const values = targets.flatMap((target) => [near.encode(id), far.encode(target)]);
  const write = (): CompiledQuery => {
    const slots = new Slots();
    const insert = db
      .insertInto(table)
      .columns([own, other])
      .values(targets.map(() => ({ [own]: slots.next(near.type), [other]: slots.next(far.type) })));
    // MySQL's "ignore" would also ignore dangling references.
    if (provider === "mysql") return insert.onDuplicateKeyUpdate({ [own]: sql.id(own) }).compile();
    return insert.onConflict((conflict) => conflict.doNothing()).compile();
  };
  if (targets.length > MAX_KEPT_PAIRS) return toStatement(write()).query(values);
  return statements.get(`link ${table} ${own} ${targets.length}`, write).query(values);
}

/** The statement that removes pairs; missing pairs are ignored. */
export function unlinkQuery(
  { builder, statements }: SqlConnection,
  relation: ResolvedRelation,
  id: string,
  targets: readonly string[],
): NamedQuery {
  const link = linkTable(relation);
  const { table, called, own, other } = link;
  const condition = and([endIn(relation.source, own, id), endIn(relation.target, other, targets)]);
  const values: unknown[] = [];
  const shape = `unlink ${table} ${conditionShape(condition, builder.provider, values)}`;
  const write = (): CompiledQuery =>
    builder.db
      .deleteFrom(pairSource(link))
      .where(new ConditionBuilder(builder, new Slots()).build(condition, called))
      .compile();
  return statements.get(shape, write).query(values);
}
