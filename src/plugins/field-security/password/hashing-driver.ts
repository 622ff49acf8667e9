import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import {
  BadRequestError,
  compileWhere,
  type Driver,
  type EntityRef,
  entityName,
  overlayDriver,
  type Row,
  soleId,
  type Where,
} from "../../../kernel/index.ts";
import type { PasswordHasher } from "./create-password-hasher.ts";
import { hashColumns } from "./hash-columns.ts";
import type { PasswordColumn } from "./password-columns.ts";

/** What passwords are hashed by. */
export interface PasswordHashing {
  readonly model: EntityModel;
  readonly columns: ReadonlyMap<string, readonly PasswordColumn[]>;
  readonly hasher: PasswordHasher;
}

/**
 * A driver that takes passwords in clear and stores their hashes, for code that writes without an operation. `updateMany`
 * with a password takes the id of one record: several would get the same salt and hash, which says whose passwords are
 * the same.
 */
export function hashingDriver(inner: Driver, hashing: PasswordHashing): Driver {
  const { model, columns, hasher } = hashing;
  const columnsOf = (ref: EntityRef): readonly PasswordColumn[] => columns.get(entityName(ref)) ?? [];
  const hashed = (ref: EntityRef, data: Row): Promise<Row> => hashColumns(hasher, columnsOf(ref), data);

  /** One after the other: the queue has an end, and people who log in wait in it too. */
  async function hashedRows(ref: EntityRef, rows: readonly Row[]): Promise<Row[]> {
    const all: Row[] = [];
    for (const row of rows) all.push(await hashed(ref, row));
    return all;
  }
  function refuseShared(ref: EntityRef, where: Where, data: Row): void {
    if (!columnsOf(ref).some(({ name }) => data[name] !== undefined && data[name] !== null)) return;
    const entity = model.get(entityName(ref)) as AnyEntity;
    if (soleId(compileWhere(model, entity, where)) === undefined)
      throw new BadRequestError(
        `${entity.name}: records would share one hash of a password; update them one by one, each by its id`,
      );
  }
  return overlayDriver(inner, {
    create: async (ref, data, options) => inner.create(ref, await hashed(ref, data), options),
    createMany: async (ref, rows) => inner.createMany(ref, await hashedRows(ref, rows)),
    update: async (ref, where, data) => inner.update(ref, where, await hashed(ref, data)),
    async updateMany(ref, where, data) {
      refuseShared(ref, where, data);
      return inner.updateMany(ref, where, await hashed(ref, data));
    },
    transaction: (work, options) => inner.transaction((driver) => work(hashingDriver(driver, hashing)), options),
  });
}
