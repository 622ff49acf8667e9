import { type Driver, forDecisions, overlayDriver } from "../../kernel/index.ts";

const made = new WeakMap<Driver, Driver>();

/** The driver of a scope as rules get it: a value that cannot be decrypted is not null to them, looking at it throws. */
export function decidingDriver(driver: Driver): Driver {
  const known = made.get(driver) ?? overlay(driver);
  made.set(driver, known);
  return known;
}

function overlay(inner: Driver): Driver {
  return overlayDriver(inner, {
    async findOne(ref, where, options) {
      const row = await inner.findOne(ref, where, options);
      return row && forDecisions(row);
    },
    findMany: async (ref, query) => (await inner.findMany(ref, query)).map(forDecisions),
    async *stream(ref, query, batchSize) {
      for await (const rows of inner.stream(ref, query, batchSize)) yield rows.map(forDecisions);
    },
    transaction: (work, options) => inner.transaction((driver) => work(overlay(driver)), options),
  });
}
