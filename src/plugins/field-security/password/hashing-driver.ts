import { type Driver, type EntityRef, entityName, overlayDriver, type Row } from "../../../kernel/index.ts";
import type { PasswordHasher } from "./create-password-hasher.ts";
import { hashColumns } from "./hash-columns.ts";
import type { PasswordColumn } from "./password-columns.ts";

/** A driver that takes passwords in clear and stores their hashes, for code that writes without an operation. */
export function hashingDriver(
  inner: Driver,
  columns: ReadonlyMap<string, readonly PasswordColumn[]>,
  hasher: PasswordHasher,
): Driver {
  function hashed(ref: EntityRef, data: Row): Promise<Row> {
    return hashColumns(hasher, columns.get(entityName(ref)) ?? [], data);
  }
  /** One after the other: the queue has an end, and people who log in wait in it too. */
  async function hashedRows(ref: EntityRef, rows: readonly Row[]): Promise<Row[]> {
    const all: Row[] = [];
    for (const row of rows) all.push(await hashed(ref, row));
    return all;
  }
  const hashing: Partial<Driver> = {
    create: async (ref, data) => inner.create(ref, await hashed(ref, data)),
    createMany: async (ref, rows) => inner.createMany(ref, await hashedRows(ref, rows)),
    update: async (ref, where, data) => inner.update(ref, where, await hashed(ref, data)),
    updateMany: async (ref, where, data) => inner.updateMany(ref, where, await hashed(ref, data)),
    transaction: (work, options) =>
      inner.transaction((driver) => work(hashingDriver(driver, columns, hasher)), options),
  };
  return overlayDriver(inner, hashing);
}
