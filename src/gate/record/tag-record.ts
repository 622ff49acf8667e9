import { type AnyEntity, type ColumnDefinition, composeId, newDefault } from "../../entity/index.ts";
import { type Clock, kMarked } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { IdGenerator } from "../operation/new-ids.ts";
import type { Operation } from "../operation/operation.ts";
import type { Driver } from "../statement/driver-port.ts";
import type { JoinedFind } from "../statement/statement.ts";
import { type Middleware, withMiddleware } from "../statement/with-middleware.ts";

/** What is known of a record and all its copies, even when their values change. */
export interface KnownRecord {
  readonly entity: AnyEntity;
  /** The record as it was read, whatever its values are now; absent where no field depends on the record. */
  readonly values?: Readonly<Row> | undefined;
  /** Which fields it shows to which caller; see `markShown`. */
  readonly shown?: unknown;
}

/** Holds what is known in a private field: a printed record shows its values and, of the tag, only this name. */
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

/** Shared tags of entities whose records need no tag of their own; null for others. */
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
 * Marks a row as a record of an entity, so that the serializer knows its mask.
 * @param read the record as it was read; null where that is unknown: fields whose rules need the record are then hidden
 *   @default the row
 */
export function tagRecord(entity: AnyEntity, row: Row, read: Row | null = row): Row {
  const tag =
    sharedTag(entity) ??
    new RecordTag({ entity, values: read === null ? undefined : { ...read, [kMarked]: undefined } });
  (row as Record<symbol, unknown>)[kMarked] = tag;
  if (entity.hidden.length > 0) hide(entity, row);
  return row;
}

/** Code can read `user.apiToken`; spread, `Object.keys`, JSON, CSV and loggers do not see it. */
function hide(entity: AnyEntity, row: Row): void {
  for (const name of entity.hidden)
    if (Object.hasOwn(row, name)) Object.defineProperty(row, name, { enumerable: false });
}

/** Notes which fields a record shows, on it and on copies that are made from then on. */
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

/** Marks the records of an operation, and those that its statement has read along. */
export function tagRecords({ entity, records, joins = [] }: Operation): void {
  for (const record of records) tagRecord(entity, record);
  for (const { relation } of joins) {
    const { name, target } = relation;
    for (const record of records) if (record[name]) tagRecord(target, record[name] as Row);
  }
}

/** What a list has its statement read along; nothing with a driver that cannot. */
export function joinsOf(operation: Operation, driver: Driver): readonly JoinedFind[] | undefined {
  if (driver.capabilities.joins !== true) operation.joins = undefined;
  return operation.joins;
}

/**
 * A driver as handlers, hooks and rules get it: what it returns is tagged, so that a record is masked on its way out,
 * whichever code read it. The gate's own statements run on the driver inside, without this cost. It does not wait for
 * masks, because the rules that a mask waits for read with it, too.
 * @param sources of what is left out of new records and changes @default nothing is filled in
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

/**
 * A new record as it is stored. Missing values become an id, a datetime, the field's default, or null where that is
 * allowed.
 */
function newRow(entity: AnyEntity, data: Row, sources: RowSources): Row {
  const row: Row = { ...data };
  const now = sources.clock.now();
  for (const column of Object.values(entity.columns)) {
    if (row[column.name] !== undefined) continue;
    if (column.parts !== undefined) continue; // once the others are there
    const value = column.role === "id" && entity.idsFrom !== "keelson" ? undefined : valueOfNew(column, now, sources);
    if (value !== undefined) row[column.name] = value;
  }
  if (entity.idsFrom === "parts") row.id = idOfParts(entity, row);
  return row;
}

/** The id of a new record that consists of values of it. */
export function idOfParts({ columns }: AnyEntity, row: Row): string {
  return composeId((columns.id?.parts ?? []).map((part) => inForm(part, row[part.name])));
}

/** A value in the form of its kind. */
function inForm({ kind }: ColumnDefinition, value: unknown): unknown {
  const found = kind.convert?.(value);
  return found?.ok === true ? found.value : value;
}

function valueOfNew({ role, field, optional, of }: ColumnDefinition, now: Date, { ids }: RowSources): unknown {
  if (role === "id") return ids.next();
  if (role === "createdAt" || role === "updatedAt") return now;
  if (of !== undefined) return undefined; // made of the value of another one
  if (field?.filledBy !== undefined) return undefined;
  return (field && newDefault(field)) ?? (optional ? null : undefined);
}

/** Changes as they are stored: with the datetime of the update, if anything changes. */
function changedRow({ timestamps }: AnyEntity, data: Row, { clock }: RowSources): Row {
  const isChange = Object.keys(data).length > 0;
  return timestamps && isChange && data.updatedAt === undefined ? { ...data, updatedAt: clock.now() } : data;
}
