import type { ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import {
  type Condition,
  compileWhere,
  type Driver,
  type EntityRef,
  type Link,
  streamByKeyset,
  ValidationFailedError,
  type Where,
} from "../../../kernel/index.ts";
import type { Statements } from "../create-prisma-driver.ts";
import type { EntityPlan } from "../entity-plan.ts";
import { oneRecord, pairsOf, someRecords } from "../port-checks.ts";
import { danglingReference } from "../to-keelson-error.ts";
import { linkQuery, linksQuery, unlinkQuery } from "./link-queries.ts";
import type { SqlSession } from "./sql-connection.ts";
import { sqlReads } from "./sql-reads.ts";
import { deleteRows, insertRow, insertRows, insertRowWhere, portionsOf, updateRow, updateRows } from "./sql-writes.ts";
import { writeTogether } from "./write-together.ts";

/** Pairs of one INSERT. */
const PAIRS = 1_000;

/** Whether pairs need more than one statement. */
function needsSeveralPortions(targets: readonly string[]): boolean {
  return targets.length > PAIRS;
}

/** Pairs of a relation, ordered by source, then target. */
async function selectLinks(
  session: SqlSession,
  relation: ResolvedRelation,
  ids: readonly string[],
  condition: Condition,
  limit: number,
): Promise<Link[]> {
  const sources = [...new Set(ids)];
  if (sources.length === 0 || limit === 0) return [];
  const query = linksQuery(session.connection(), relation, sources, condition, limit);
  const { rows } = await session.read({ model: relation.source.name, operation: "links" }, (client) =>
    client.queryRaw(query),
  );
  const links = rows.map(([source, target]): Link => ({ source: source as string, target: target as string }));
  const { compare } = (relation.source.columns.id as ColumnDefinition).kind;
  return links.sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target));
}

/** Adds pairs. @throws ValidationFailedError when one end does not exist */
async function addLinks(
  session: SqlSession,
  relation: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  const open = session.connection();
  for (let start = 0; start < targets.length; start += PAIRS) {
    const query = linkQuery(open, relation, id, targets.slice(start, start + PAIRS));
    try {
      await session.write({ model: relation.source.name, operation: "link" }, (client) => client.executeRaw(query));
    } catch (error) {
      if (!(error instanceof ValidationFailedError)) throw error;
      throw danglingReference([`${relation.name}Ids`], error.cause);
    }
  }
}

/** Removes pairs; a record that does not exist has none. */
async function removeLinks(
  session: SqlSession,
  relation: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  if (targets.length === 0) return;
  const query = unlinkQuery(session.connection(), relation, id, targets);
  await session.write({ model: relation.source.name, operation: "unlink" }, (client) => client.executeRaw(query));
}

/**
 * The port's statements in SQL. Statements are written when a method is called, with copies of what they are given, so
 * that nobody changes it while they wait for their turn.
 */
export function sqlStatements(session: SqlSession, transaction: Driver["transaction"]): Statements {
  const reads = sqlReads(session);
  const together = writeTogether(session);
  const planOf = (ref: EntityRef): EntityPlan => session.connection().planOf(ref);
  const compile = ({ entity }: EntityPlan, where: Where | undefined): Condition =>
    compileWhere(session.connection().model, entity, where);
  const relationOf = ({ entity }: EntityPlan, name: string): ResolvedRelation =>
    pairsOf(session.connection().model, entity, name);

  const findMany: Driver["findMany"] = async (ref, query = {}) => {
    const plan = planOf(ref);
    return reads.findMany(plan, compile(plan, query.where), query);
  };

  return {
    async ping() {
      await session.read({ operation: "ping" }, (client) =>
        client.queryRaw({ sql: "select 1", args: [], argTypes: [] }),
      );
    },
    async findOne(ref, where, options = {}) {
      const plan = planOf(ref);
      return reads.findOne(plan, compile(plan, where), options);
    },
    findMany,
    async count(ref, where) {
      const plan = planOf(ref);
      return reads.count(plan, compile(plan, where));
    },
    async create(ref, data, { where } = {}) {
      const plan = planOf(ref);
      if (where === undefined) return insertRow(session, together, plan, data);
      return insertRowWhere(session, plan, data, compile(plan, where));
    },
    async createMany(ref, rows) {
      const plan = planOf(ref);
      const portions = portionsOf(session, plan, rows);
      if (session.inTransaction || portions.length < 2) return insertRows(session, plan, portions);
      return transaction((driver) => driver.createMany(ref, rows));
    },
    async update(ref, where, data) {
      const plan = planOf(ref);
      return updateRow(session, together, plan, oneRecord(plan, compile(plan, where)), data);
    },
    async updateMany(ref, where, data) {
      const plan = planOf(ref);
      return updateRows(session, plan, someRecords(plan, compile(plan, where)), data);
    },
    async delete(ref, where) {
      const plan = planOf(ref);
      return (await deleteRows(session, plan, oneRecord(plan, compile(plan, where)), "delete")) > 0;
    },
    async deleteMany(ref, where) {
      const plan = planOf(ref);
      return deleteRows(session, plan, someRecords(plan, compile(plan, where)), "deleteMany");
    },
    async *stream(ref, query, batchSize) {
      yield* streamByKeyset({ findMany } as Driver, planOf(ref).entity, query, batchSize);
    },
    async links(ref, relation, ids, { where, limit = Number.POSITIVE_INFINITY } = {}) {
      const resolved = relationOf(planOf(ref), relation);
      const condition = compile(planOf(resolved.target), where);
      return selectLinks(session, resolved, ids, condition, limit);
    },
    async link(ref, relation, id, targets) {
      const resolved = relationOf(planOf(ref), relation);
      const ids = [...new Set(targets)];
      if (session.inTransaction || !needsSeveralPortions(ids)) return addLinks(session, resolved, id, ids);
      return transaction((driver) => driver.link(ref, relation, id, ids));
    },
    async unlink(ref, relation, id, targets) {
      return removeLinks(session, relationOf(planOf(ref), relation), id, [...new Set(targets)]);
    },
  };
}
