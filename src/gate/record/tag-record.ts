import { type AnyEntity, type ColumnDefinition, composeId, newDefault } from "../../entity/index.ts";
import { type Clock, kMarked } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { IdGenerator } from "../operation/new-ids.ts";
import type { Operation } from "../operation/operation.ts";
import type { Driver } from "../statement/driver-port.ts";
import type { JoinedFind } from "../statement/statement.ts";
import { type Middleware, withMiddleware } from "../statement/with-middleware.ts";

/** Data attached to a record and all its copies, independent of later changes to their values. */
export interface KnownRecord {
  readonly entity: AnyEntity;
  /** The record as read, even if its values change later; absent when no field depends on the record. */
  readonly values?: Readonly<Row> | undefined;
  /** The fields that it shows, by caller; see `markShown`. */
  readonly shown?: unknown;
}

/** Holds the data in a private field, so that printing a record shows its values and only the name of this class. */
class RecordTag {
  readonly #known: KnownRecord;

  constructor(known: KnownRecord) {
    this.#known = known;
  }
  static on(value: object): KnownRecord | undefined {
    const tag = (value as Record<symbol, RecordTag | undefined>)[kMarked];
    return tag === undefined ? undefined : tag.#known;
  }
}

/** Shared tags of entities whose records do not need individual tags; null for other entities. */
const sharedTags = new WeakMap<AnyEntity, RecordTag | null>();

function sharedTag(entity: AnyEntity): RecordTag | null {
  const known = sharedTags.get(entity);
  if (known !== undefined) return known;
  const isRuled = Object.values(entity.fields).some(({ readable }) => readable !== undefined);
  const tag = isRuled ? null : new RecordTag({ entity });
  sharedTags.set(entity, tag);
  return tag;
}

/**
 * Marks a row as a record of an entity, so that the serializer finds its mask.
 * @param read the record as read; null when it is not known, which hides fields whose rules need the record @default
 *   the row
 */
export function tagRecord(entity: AnyEntity, row: Row, read: Row | null = row): Row {
  const tag =
    sharedTag(entity) ??
    new RecordTag({ entity, values: read === null ? undefined : { ...read, [kMarked]: undefined } });
  (row as Record<symbol, unknown>)[kMarked] = tag;
  if (entity.hidden.length > 0) hide(entity, row);
  return row;
}

/**
 * Makes hidden columns non-enumerable: code can read `user.apiToken`, but spread, `Object.keys`, JSON, CSV and loggers
 * do not include it.
 */
function hide(entity: AnyEntity, row: Row): void {
  for (const name of entity.hidden)
    if (Object.hasOwn(row, name)) Object.defineProperty(row, name, { enumerable: false });
}

/** Stores which fields a record shows, on the record and on later copies. */
export function noteShown(record: Row, shown: unknown): void {
  const known = knownOf(record);
  if (known !== undefined) (record as Record<symbol, unknown>)[kMarked] = new RecordTag({ ...known, shown });
}

/** The tag of a value; undefined when it is not a record. */
export const knownOf = RecordTag.on;

/** The entity a value is a record of, or undefined. */
export function entityOfRecord(value: object): AnyEntity | undefined {
  return knownOf(value)?.entity;
}

/** Tags the records of an operation, and the related records that its statement read. */
export function tagRecords({ entity, records, joins = [] }: Operation): void {
  for (const record of records) tagRecord(entity, record);
  for (const { relation } of joins) {
    const { name, target } = relation;
    for (const record of records) if (record[name]) tagRecord(target, record[name] as Row);
  }
}

/** The related records that the statement of a list reads; undefined if the driver does not support joins. */
export function joinsOf(operation: Operation, driver: Driver): readonly JoinedFind[] | undefined {
  if (driver.capabilities.joins !== true) operation.joins = undefined;
  return operation.joins;
}

/**
 * Wraps a driver for handlers, hooks and rules. It tags the records it returns, so that they are masked in responses
 * whichever code read them. The gate's own statements use the inner driver, without this cost. It does not wait for
 * masks, because the rules that a mask waits for also read with it.
 * @param sources ids and datetimes for values that are missing in new and changed records @default nothing is filled in
 */
export function taggingDriver(inner: Driver, sources?: RowSources): Driver {
  const middleware: Middleware = async (statement, next) => {
    switch (statement.kind) {
      case "find": {
        const rows = await next(statement);
        for (const row of rows) tagRecord(statement.entity, row);
        return rows;
      }
      case "insert": {
        const { entity, rows } = statement;
        const made = sources === undefined ? rows : rows.map((row) => newRow(entity, row, sources));
        const written = await next({ ...statement, rows: made });
        for (const row of written.rows) tagRecord(entity, row);
        return written;
      }
      case "update": {
        const { entity, data } = statement;
        const written = await next({
          ...statement,
          data: sources === undefined ? data : changedRow(entity, data, sources),
        });
        for (const row of written.rows) tagRecord(entity, row);
        return written;
      }
      default:
        return next(statement);
    }
  };
  return withMiddleware(inner, middleware);
}

/** The source of ids and datetimes. */
interface RowSources {
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** Completes a new record. Missing values become an id, a datetime, the field's default, or null where allowed. */
function newRow(entity: AnyEntity, data: Row, sources: RowSources): Row {
  const row: Row = { ...data };
  const now = sources.clock.now();
  for (const column of Object.values(entity.columns)) {
    if (row[column.name] !== undefined) continue;
    if (column.parts !== undefined) continue; // after the other columns are set
    const value = column.role === "id" && entity.idsFrom !== "keelson" ? undefined : valueOfNew(column, now, sources);
    if (value !== undefined) row[column.name] = value;
  }
  if (entity.idsFrom === "parts") row.id = idOfParts(entity, row);
  return row;
}

/** The id of a new record whose id is composed of its own values. */
export function idOfParts({ columns }: AnyEntity, row: Row): string {
  return composeId((columns.id?.parts ?? []).map((part) => inForm(part, row[part.name])));
}

/** Converts a value to the form of its kind, if possible. */
function inForm({ kind }: ColumnDefinition, value: unknown): unknown {
  const found = kind.convert?.(value);
  return found?.ok === true ? found.value : value;
}

function valueOfNew({ role, field, optional, of }: ColumnDefinition, now: Date, { ids }: RowSources): unknown {
  if (role === "id") return ids.next();
  if (role === "createdAt" || role === "updatedAt") return now;
  if (of !== undefined) return undefined; // derived from another column
  if (field?.filledBy !== undefined) return undefined;
  return (field && newDefault(field)) ?? (optional ? null : undefined);
}

/** Adds the datetime of the update to changes, unless they are empty. */
function changedRow({ timestamps }: AnyEntity, data: Row, { clock }: RowSources): Row {
  const isChange = Object.keys(data).length > 0;
  return timestamps && isChange && data.updatedAt === undefined ? { ...data, updatedAt: clock.now() } : data;
}
