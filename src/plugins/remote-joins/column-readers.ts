import type { AnyEntity } from "../../entity/index.ts";
import { type ReadValue, valueReader } from "./read-value.ts";

/** How one column of a record from outside is read. */
export interface ColumnReader {
  readonly name: string;
  readonly optional: boolean;
  /**
   * Whether a value that was not sent is null before it is decided who sees the record. Only the mark of soft deletion is,
   * since whoever keeps the records leaves out those that are deleted; of others a rule may want to know that they are empty.
   */
  readonly nullWhenAbsent: boolean;
  readonly read: ReadValue;
}

const known = new WeakMap<AnyEntity, readonly ColumnReader[]>();

/** Readers of the columns that records show; made once per entity. Others are never asked for, and dropped when they come. */
export function readersOf(entity: AnyEntity): readonly ColumnReader[] {
  let readers = known.get(entity);
  if (readers === undefined) {
    readers = Object.values(entity.columns)
      .filter(({ name }) => !entity.hidden.includes(name))
      .map((column) => ({
        name: column.name,
        optional: column.optional,
        nullWhenAbsent: column.name === entity.softDelete?.field,
        read: valueReader(column),
      }));
    known.set(entity, readers);
  }
  return readers;
}
