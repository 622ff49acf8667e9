import type { EntityModel } from "../../entity/index.ts";
import type { Driver, EntityRef, Row } from "../ports/driver.ts";
import { overlayDriver } from "../ports/overlay-driver.ts";
import { changedRow, newRow, type RowSources } from "./complete-row.ts";
import { findEntity } from "./find-entity.ts";
import { tagRecord } from "./tag-record.ts";

/**
 * A driver as handlers, hooks and rules get it: what it returns is tagged, so that a record is masked on its way out
 * whoever read it. The gate's own statements run on the driver inside and pay nothing. It waits for no mask: the rules
 * that a mask waits for read with it, too.
 * @param sources of what is left out of new records and changes @default nothing is filled in
 */
export function taggingDriver(inner: Driver, model: EntityModel, sources?: RowSources): Driver {
  function tagAll(ref: EntityRef, rows: Row[]): Row[] {
    const entity = findEntity(model, ref);
    for (const row of rows) tagRecord(entity, row);
    return rows;
  }
  function tag<T extends Row | null>(ref: EntityRef, row: T): T {
    if (row !== null) tagRecord(findEntity(model, ref), row);
    return row;
  }
  const made = (ref: EntityRef, data: Row): Row =>
    sources === undefined ? data : newRow(findEntity(model, ref), data, sources);
  const changed = (ref: EntityRef, data: Row): Row =>
    sources === undefined ? data : changedRow(findEntity(model, ref), data, sources);
  const tagging: Partial<Driver> = {
    findOne: async (ref, where, options) => tag(ref, await inner.findOne(ref, where, options)),
    // What is read along is the gate's to ask for: it knows who may see it.
    findMany: async (ref, query) => tagAll(ref, await inner.findMany(ref, { ...query, join: undefined })),
    create: async (ref, data) => tag(ref, await inner.create(ref, made(ref, data))),
    createMany: (ref, rows) =>
      inner.createMany(
        ref,
        rows.map((row) => made(ref, row)),
      ),
    update: async (ref, where, data) => tag(ref, await inner.update(ref, where, changed(ref, data))),
    updateMany: (ref, where, data) => inner.updateMany(ref, where, changed(ref, data)),
    async *stream(ref, query, batchSize) {
      for await (const rows of inner.stream(ref, query, batchSize)) yield tagAll(ref, rows);
    },
    transaction: (work, options) => inner.transaction((driver) => work(taggingDriver(driver, model, sources)), options),
  };
  return overlayDriver(inner, tagging);
}
