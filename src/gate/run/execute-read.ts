import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { BadRequestError, runHooks } from "../../kernel/index.ts";
import { allOf, allPresent, compileWhere } from "../condition/compile-where.ts";
import { and, type Row, type Where } from "../condition/condition.ts";
import { RANK } from "../condition/search.ts";
import type { FieldMask } from "../operation/mask.ts";
import { conditionUpTo, type MutableOperation } from "../operation/new-operation.ts";
import type { Operation, OperationQuery } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { showsField } from "../record/serialize.ts";
import { joinsOf, tagRecords } from "../record/tag-record.ts";
import { isWhere, observe } from "../requirement/passes.ts";
import { missingOrDenied, recordDenied } from "../requirement/unmatched.ts";
import { ByteBudget, countedBytes, LARGE, mostBytes } from "../statement/byte-budget.ts";
import type { SortKey } from "../statement/driver-port.ts";
import {
  decodeCursor,
  decodeOffset,
  encodeCursor,
  encodeOffset,
  keysetCondition,
  totalOrder,
} from "../statement/keyset.ts";
import type { Find } from "../statement/statement.ts";
import { aggregate } from "./execute-aggregate.ts";
import { rankOf } from "./rank.ts";

/** Reads one page, and counts all matching records if requested. */
export async function runList(operation: MutableOperation): Promise<void> {
  const { entity, query, decision, scope } = operation;
  const order = totalOrder(query.sort, entity);
  const given = allPresent(query.where, decision.predicate, conditionUpTo(operation.requirements, "denied"));
  const where = compileWhere(scope.app.model, entity, given);
  const { pageSize, maxOffset } = scope.app.limits;
  const isByRelated = order.some(({ through }) => through !== undefined);
  if (isByRelated && scope.store.capabilities.sortsRelated !== true)
    throw new BadRequestError("This database is not sorted by fields of related records");
  const ranked = order.some(({ field }) => field === RANK) ? query.search : undefined;
  const after =
    query.after === undefined || ranked !== undefined ? query.position : decodeCursor(entity, order, query.after);
  const position = after && keysetCondition(entity, order, after, where);
  const offset =
    ranked === undefined || query.after === undefined ? query.offset : decodeOffset(order, query.after, maxOffset);
  const limit = query.limit ?? pageSize;
  const bytes = operation.bytes ?? ownBytes(operation, limit);
  const mask = scope.principal.kind === "system" ? undefined : scope.access.mask(entity);
  const bounding = bytes === undefined ? undefined : mask;
  const find: Find = {
    kind: "find",
    entity,
    where: position === undefined ? where : and([where, position]),
    sort: order,
    rank: ranked === undefined ? undefined : rankOf(entity, ranked, mask),
    limit,
    offset,
    perParent: query.perParent,
    select: columnsToFetch(entity, query, order, bounding),
    textMoments: query.textMoments,
    joins: joinsOf(operation, scope.store),
    bytes,
    counted: bounding && countedOf(bounding),
  };
  const page =
    bounding && isTold(bounding, find) ? readInPortions(operation, bounding, find) : scope.store.execute(find);
  if (query.total) [operation.records] = await Promise.all([page, countAll(operation, where)]);
  else operation.records = await page;
  const last = operation.records.at(-1);
  const isCut = bytes?.isCut === true;
  if (last !== undefined && (operation.records.length === limit || isCut))
    operation.nextCursor =
      ranked === undefined
        ? encodeCursor(order, isByRelated ? await withRelated(operation, order, last) : last, entity)
        : encodeOffset(order, (offset ?? 0) + operation.records.length);
  // A next page with an offset would skip the records that were left out.
  if (isCut && operation.bytes === undefined && (query.offset !== undefined || operation.nextCursor === undefined))
    throw new BadRequestError(
      `The page would have more than ${scope.app.limits.pageBytes} bytes; ask for fewer records, for fewer fields with "select", or for pages that begin after a cursor ("_after").`,
    );
}

/** Adds the values of sort keys on related records to a record. */
async function withRelated({ scope }: MutableOperation, order: readonly SortKey[], record: Row): Promise<Row> {
  const found: Row = { ...record };
  for (const { field, through = [] } of order) {
    let at: Row | null = record;
    for (const [index, { relation, where }] of through.entries()) {
      const id: unknown = at?.[relation.foreignKey as string];
      const next = through[index + 1]?.relation.foreignKey ?? field.slice(field.lastIndexOf(".") + 1);
      const one = allOf({ id }, where);
      at = typeof id === "string" ? await scope.store.findOne(relation.target, one, { select: [next] }) : null;
      found[field] = at?.[next] ?? null;
    }
  }
  return found;
}

/** Counts all matching records; for `"estimated"`, only as far as pages can be numbered. */
async function countAll(operation: MutableOperation, given: Where | undefined): Promise<void> {
  const { entity, query, scope } = operation;
  const most = query.total === "estimated" ? scope.app.limits.maxOffset : undefined;
  const where = compileWhere(scope.app.model, entity, given);
  const total = await scope.store.execute({ kind: "count", entity, where, most });
  operation.total = Math.min(total, most ?? total);
}

/**
 * The fields that count for the size of a page: those that all records show. The number of records that fit must not
 * depend on hidden values.
 */
function countedOf({ readable, readablePerRow }: FieldMask): ReadonlySet<string> {
  if (readablePerRow === undefined) return readable;
  return new Set([...readable].filter((name) => !readablePerRow.has(name)));
}

/**
 * Whether record-dependent fields may be large in total; the size of a page is then computed from the fields that are
 * shown.
 */
function isTold({ readablePerRow }: FieldMask, { entity, select, limit = 0 }: Find): boolean {
  if (readablePerRow === undefined) return false;
  const names = [...readablePerRow.keys()].filter((name) => select?.includes(name) ?? true);
  const most = names.reduce((sum, name) => sum + mostBytes(entity.columns[name] as ColumnDefinition), 0);
  return most * limit > LARGE;
}

/** A portion has at most this many times the records of the previous one. */
const GROWTH = 4;

/**
 * Reads the records of a page in portions limited in bytes. For each portion, the shown fields are decided; long hidden
 * values are dropped, and the shown values count for the page.
 */
async function readInPortions(operation: MutableOperation, mask: FieldMask, find: Find): Promise<Row[]> {
  const { entity, scope, kind, access } = operation;
  const { sort = [], limit = 0 } = find;
  const bytes = find.bytes as ByteBudget;
  const { reveal } = scope.runtime.find(entity).planOf(kind, access);
  const page: Row[] = [];
  for (let next: Find = { ...find, textMoments: false }; ; ) {
    const portion = new ByteBudget(LARGE);
    operation.records = await scope.store.execute({ ...next, bytes: portion, counted: undefined });
    tagRecords(operation);
    await runHooks(reveal, operation);
    const sizes = operation.records.map((record) => countedBytes(record, dropHidden(operation, mask, record)));
    const found = operation.records.slice(0, bytes.take(sizes, page.length === 0 ? undefined : 0));
    page.push(...found);
    const end = found.at(-1);
    const last = end && (await withRelated(operation, sort, end));
    if (last === undefined || bytes.isCut || !portion.isCut || page.length >= limit) return page;
    const rest =
      find.rank === undefined
        ? {
            where: and([
              find.where,
              keysetCondition(
                entity,
                sort,
                sort.map(({ field }) => last[field] ?? null),
                find.where,
              ),
            ]),
            offset: undefined,
          }
        : { offset: (find.offset ?? 0) + page.length };
    next = { ...next, ...rest, limit: Math.min(limit - page.length, found.length * GROWTH) };
  }
}

/** The fields that a record shows its caller. */
function shownFields(scope: OperationScope, entity: AnyEntity, record: Row, mask: FieldMask): ReadonlySet<string> {
  const shown = new Set(mask.readable);
  for (const [name, access] of mask.readablePerRow ?? [])
    if (!showsField(scope, entity, record, name, access)) shown.delete(name);
  return shown;
}

/** Drops long values that a record does not show. @returns the fields that it shows */
function dropHidden({ entity, scope }: MutableOperation, mask: FieldMask, record: Row): ReadonlySet<string> {
  const shown = shownFields(scope, entity, record, mask);
  for (const name of mask.readablePerRow?.keys() ?? [])
    if (!shown.has(name) && mostBytes(entity.columns[name] as ColumnDefinition) > LONG) delete record[name];
  return shown;
}

/** The size in bytes of the fields that a record shows its caller, without related records. */
export function shownBytes(scope: OperationScope, entity: AnyEntity, record: Row): number {
  return countedBytes(record, shownFields(scope, entity, record, scope.access.mask(entity)));
}

/** The size limit of a page. When records are included, the page and the included records get half each. */
function ownBytes({ query, scope }: MutableOperation, limit: number): ByteBudget | undefined {
  if (limit === 1 || scope.principal.kind === "system") return undefined;
  const { pageBytes } = scope.app.limits;
  return new ByteBudget(query.include === undefined ? pageBytes : pageBytes / 2, scope.exchange);
}

/**
 * The size limit of all included records of an operation together; no limit for the system. A record that does not fit
 * is not read, also when it is the only one of its list: each level of includes would add one.
 */
export function includedBytes(operation: Operation): ByteBudget | undefined {
  const { principal, scope } = operation;
  if (principal.kind !== "system")
    operation.bytes ??= new ByteBudget(scope.app.limits.pageBytes / 2, scope.exchange, 0);
  return operation.bytes;
}

/** Counts the matching records. */
export async function runCount(operation: MutableOperation): Promise<void> {
  const { entity, query, decision, scope, requirements } = operation;
  const where = allPresent(query.where, decision.predicate, conditionUpTo(requirements, "denied"));
  if (query.aggregate === undefined) operation.total = await scope.store.count(entity, where);
  else operation.groups = await aggregate(operation, query.aggregate, where);
}

/** Reads one record by id. */
export async function runRead(operation: MutableOperation): Promise<void> {
  const { entity, query, decision, scope, requirements } = operation;
  if (decision.guard !== undefined) {
    operation.records = [await guardedRecord(operation)];
    return;
  }
  const where = allOf({ id: operation.id }, query.where, decision.predicate, conditionUpTo(requirements, "denied"));
  const found = await scope.store.execute({
    kind: "find",
    entity,
    where: compileWhere(scope.app.model, entity, where),
    limit: 1,
    select: columnsToFetch(entity, query, []),
    textMoments: query.textMoments,
  });
  if (found.length === 0) throw await missingOrDenied(operation);
  operation.records = found;
}

/** Reads the record of an operation whose rules need it. */
async function guardedRecord(operation: MutableOperation): Promise<Row> {
  const { entity, id, decision, scope, query, requirements } = operation;
  const { predicate, guard } = decision;
  const there = allOf({ id }, query.where, conditionUpTo(requirements, "denied"));
  const matching = predicate && (await scope.store.findOne(entity, allOf(there, predicate)));
  if (matching) return matching;
  const record = await scope.store.findOne(entity, there);
  if (record === null) throw await missingOrDenied(operation);
  const seen = observe(entity, record);
  const answer = await guard?.(seen.record);
  if (answer === true) return record;
  if (!isWhere(answer)) throw recordDenied(operation);
  // Re-read: the values that the guard saw and the condition it returned must hold for the same state of the record.
  const again = await scope.store.findOne(entity, allOf(there, answer, seen.conditions()));
  if (again === null || seen.comparison()?.(again) === false) throw recordDenied(operation);
  return again;
}

/** Longer values are not read for callers who cannot see them on any record. */
const LONG = 4_096;

/**
 * The selected columns and those that cursors and included relations need; undefined for all columns.
 * @param mask the mask of a caller whose response is limited in bytes: long columns that it never shows are not read
 */
function columnsToFetch(
  entity: AnyEntity,
  query: OperationQuery,
  order: readonly SortKey[],
  mask?: FieldMask,
): readonly string[] | undefined {
  if (query.select === undefined) return withoutUnseen(entity, mask);
  const columns = new Set([
    "id",
    ...query.select,
    ...order.map(({ field, through }) => through?.[0]?.relation.foreignKey ?? field).filter((field) => field !== RANK),
  ]);
  for (const name of Object.keys(query.include ?? {})) {
    const key = Object.values(entity.columns).find((column) => column.relation === name);
    if (key !== undefined) columns.add(key.name);
  }
  return [...columns];
}

/**
 * Leaves out word columns, which are only used in conditions and may be as long as texts, and long columns that the
 * mask hides.
 */
function withoutUnseen({ columns }: AnyEntity, mask: FieldMask | undefined): readonly string[] | undefined {
  const all = Object.values(columns);
  const isRead = (column: ColumnDefinition): boolean =>
    column.role !== "words" && (mask === undefined || mask.readable.has(column.name) || mostBytes(column) <= LONG);
  const kept = all.filter(isRead);
  return kept.length === all.length ? undefined : kept.map(({ name }) => name);
}
