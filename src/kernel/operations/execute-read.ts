import { EntityNotFoundError } from "../errors/errors.ts";
import type { Row } from "../ports/driver.ts";
import { columnsToFetch } from "../records/columns-to-fetch.ts";
import { joinsOf } from "../records/tag-records.ts";
import { allOf, allPresent } from "../where/condition.ts";
import { decodeCursor, encodeCursor, keysetWhere, totalOrder } from "../where/keyset.ts";
import { recordDenied } from "./denied.ts";
import type { MutableOperation } from "./new-operation.ts";
import { NOTHING_DONE } from "./nothing-done.ts";

/** One page, and the number of all matching records at the same time when it is asked for. */
export async function runList(operation: MutableOperation): Promise<void> {
  const { entity, query, decision, scope } = operation;
  const order = totalOrder(query.sort, entity);
  const where = allPresent(query.where, decision.predicate, operation.existsWhere, operation.extraWhere);
  const position =
    query.after === undefined ? undefined : keysetWhere(entity, order, decodeCursor(entity, order, query.after));
  const limit = query.limit ?? scope.limits.pageSize;
  const page = scope.store.findMany(entity, {
    where: allPresent(where, position),
    sort: order,
    limit,
    offset: query.offset,
    select: columnsToFetch(entity, query, order),
    textMoments: query.textMoments,
    join: joinsOf(operation, scope.store),
  });
  if (query.total) [operation.records, operation.total] = await Promise.all([page, scope.store.count(entity, where)]);
  else operation.records = await page;
  const last = operation.records.at(-1);
  if (last !== undefined && operation.records.length === limit) operation.nextCursor = encodeCursor(order, last);
}

/** How many records match. */
export async function runCount(operation: MutableOperation): Promise<void> {
  const { entity, query, decision, scope } = operation;
  const { existsWhere, extraWhere } = operation;
  operation.total = await scope.store.count(
    entity,
    allPresent(query.where, decision.predicate, existsWhere, extraWhere),
  );
}

/** One record by id. */
export async function runRead(operation: MutableOperation): Promise<void> {
  const { entity, query, decision, scope } = operation;
  if (decision.guard !== undefined) {
    operation.records = [await guardedRecord(operation)];
    return;
  }
  const { existsWhere, extraWhere } = operation;
  const where = allOf({ id: operation.id }, query.where, decision.predicate, existsWhere, extraWhere);
  const record = await scope.store.findOne(entity, where, {
    select: columnsToFetch(entity, query, []),
    textMoments: query.textMoments,
  });
  if (record === null) throw await missingOrDenied(operation);
  operation.records = [record];
}

/** The record of an operation whose rules need to see it. */
async function guardedRecord(operation: MutableOperation): Promise<Row> {
  const { entity, decision, scope, query, existsWhere } = operation;
  const record = await scope.store.findOne(entity, allOf({ id: operation.id }, query.where, existsWhere));
  if (record === null) throw await missingOrDenied(operation);
  if (await satisfiesPredicate(operation)) return record;
  if (await decision.guard?.(record)) return record;
  throw recordDenied(operation);
}

/** Whether the stored record satisfies the rules' predicate; false when there is none. */
export async function satisfiesPredicate(operation: MutableOperation): Promise<boolean> {
  const { entity, decision, scope, id = operation.records[0]?.id } = operation;
  if (decision.predicate === undefined) return false;
  return (await scope.store.findOne(entity, allOf({ id }, decision.predicate), { select: ["id"] })) !== null;
}

/**
 * A statement matched nothing: one read tells a missing record from a forbidden one. Anonymous callers are told the
 * same for both, so that they cannot find out what exists.
 */
export async function missingOrDenied(operation: MutableOperation): Promise<Error> {
  const { entity, id, scope, decision, existsWhere, extraWhere } = operation;
  if (operation.ifFound) return NOTHING_DONE;
  if (decision.predicate === undefined && decision.guard === undefined && extraWhere === undefined)
    return new EntityNotFoundError();
  if (scope.principal.kind === "anonymous") return recordDenied(operation);
  const exists = await scope.store.findOne(entity, allOf({ id }, existsWhere), { select: ["id"] });
  return exists === null ? new EntityNotFoundError() : recordDenied(operation);
}
