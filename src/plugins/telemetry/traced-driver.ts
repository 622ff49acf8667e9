import { type Driver, type EntityRef, entityName, overlayDriver, withAbilitiesOf } from "../../kernel/index.ts";
import type { Spans } from "./spans.ts";

/** The semantic conventions' names of databases, by Keelson's. */
const SYSTEMS: Readonly<Record<string, string>> = {
  postgres: "postgresql",
  embedded: "sqlite",
  prisma: "other_sql",
};

/** A driver whose statements are spans, those of its transactions too. They say what is done to which entity, and no value. */
export function tracedDriver(driver: Driver, spans: () => Spans | undefined): Driver {
  const system = SYSTEMS[driver.name] ?? driver.name;

  function seen<T>(operation: string, entity: EntityRef | undefined, work: () => Promise<T>): Promise<T> {
    const known = spans();
    if (known === undefined) return work();
    const collection = entity === undefined ? undefined : entityName(entity);
    const attributes = {
      "db.system.name": system,
      "db.operation.name": operation,
      ...(collection && { "db.collection.name": collection }),
    };
    const name = collection === undefined ? operation : `${operation} ${collection}`;
    return known.within({ name, kind: "CLIENT", attributes }, work);
  }

  const traced = overlayDriver(driver, {
    findOne: (entity, where, options) => seen("findOne", entity, () => driver.findOne(entity, where, options)),
    findMany: (entity, query) => seen("findMany", entity, () => driver.findMany(entity, query)),
    count: (entity, where) => seen("count", entity, () => driver.count(entity, where)),
    create: (entity, ...rest) => seen("create", entity, () => driver.create(entity, ...rest)),
    createMany: (entity, rows) => seen("createMany", entity, () => driver.createMany(entity, rows)),
    update: (entity, where, data) => seen("update", entity, () => driver.update(entity, where, data)),
    updateMany: (entity, where, data) => seen("updateMany", entity, () => driver.updateMany(entity, where, data)),
    delete: (entity, where) => seen("delete", entity, () => driver.delete(entity, where)),
    deleteMany: (entity, where) => seen("deleteMany", entity, () => driver.deleteMany(entity, where)),
    links: (entity, ...rest) => seen("links", entity, () => driver.links(entity, ...rest)),
    link: (entity, ...rest) => seen("link", entity, () => driver.link(entity, ...rest)),
    unlink: (entity, ...rest) => seen("unlink", entity, () => driver.unlink(entity, ...rest)),
    async *stream(entity, ...rest) {
      const batches = driver.stream(entity, ...rest)[Symbol.asyncIterator]();
      try {
        for (;;) {
          // A span for each batch: between two of them it is the reader who takes the time.
          const { done, value } = await seen("stream", entity, () => batches.next());
          if (done) return;
          yield value;
        }
      } finally {
        await batches.return?.();
      }
    },
    transaction: (work, options) =>
      seen("transaction", undefined, () => driver.transaction((inner) => work(tracedDriver(inner, spans)), options)),
  });
  return withAbilitiesOf(driver, traced);
}
