import type { EntityModel } from "../../entity/index.ts";
import type { Driver, EntityRef, Row } from "../ports/driver.ts";
import { findEntity } from "./find-entity.ts";
import { tagRecord } from "./tag-record.ts";

/**
 * A driver as handlers, hooks and rules get it: what it returns is tagged, so that a record is masked on its way out
 * whoever read it. The gate's own statements run on the driver inside and pay nothing.
 */
export function taggingDriver(inner: Driver, model: EntityModel): Driver {
  function tagAll(ref: EntityRef, rows: Row[]): Row[] {
    const entity = findEntity(model, ref);
    for (const row of rows) tagRecord(entity, row);
    return rows;
  }
  const tag = (ref: EntityRef, row: Row | null): Row | null => row && tagRecord(findEntity(model, ref), row);
  const tagging: Partial<Driver> = {
    findOne: async (ref, where, options) => tag(ref, await inner.findOne(ref, where, options)),
    findMany: async (ref, query) => tagAll(ref, await inner.findMany(ref, query)),
    create: async (ref, data) => tagRecord(findEntity(model, ref), await inner.create(ref, data)),
    update: async (ref, where, data) => tag(ref, await inner.update(ref, where, data)),
    async *stream(ref, query, batchSize) {
      for await (const rows of inner.stream(ref, query, batchSize)) yield tagAll(ref, rows);
    },
    transaction: (work, options) => inner.transaction((driver) => work(taggingDriver(driver, model)), options),
  };
  return new Proxy(tagging as Driver, {
    get(own, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(inner, name);
      return typeof value === "function" ? value.bind(inner) : value;
    },
  });
}
