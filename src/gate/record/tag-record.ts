import type { AnyEntity } from "../../entity/index.ts";
import { kMarked } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import type { Operation } from "../operation/operation.ts";
import type { Driver } from "../statement/driver.ts";
import type { JoinedFind } from "../statement/statement.ts";

/** What is known of a record and all its copies, whatever becomes of their values. */
export interface KnownRecord {
  readonly entity: AnyEntity;
  /** The record as it was read, whatever its values are now; absent where no field depends on the record. */
  readonly values?: Readonly<Row> | undefined;
  /** Which fields it shows whom; see `markShown`. */
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

/** Tags of entities whose records need none of their own; null for others. */
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
 * Marks a row as a record of an entity, so that the serializer knows which mask applies wherever it ends up.
 * @param read the record as it was read; null where that is not known: no field whose rule needs the record is then
 *   shown @default the row
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

/** What is known of a value; undefined when it is no record. */
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
