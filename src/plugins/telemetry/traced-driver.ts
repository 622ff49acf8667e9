import { type Driver, entityOf, type Middleware, withMiddleware } from "../../gate/index.ts";
import type { Spans } from "./spans.ts";

/** The semantic conventions' names of databases, by Keelson's. */
const SYSTEMS: Readonly<Record<string, string>> = {
  postgres: "postgresql",
  embedded: "sqlite",
  prisma: "other_sql",
};

/** A driver whose statements are spans, those of its transactions too. They say what is done to which entity, and no value. */
export function tracedDriver(driver: Driver, spans: () => Spans | undefined): Driver {
  function seen<T>(operation: string, collection: string | undefined, work: () => Promise<T>): Promise<T> {
    const known = spans();
    if (known === undefined) return work();
    const attributes = {
      "db.system.name": SYSTEMS[driver.name] ?? driver.name,
      "db.operation.name": operation,
      ...(collection && { "db.collection.name": collection }),
    };
    const name = collection === undefined ? operation : `${operation} ${collection}`;
    return known.within({ name, kind: "CLIENT", attributes }, work);
  }
  const middleware: Middleware = (statement, next) =>
    seen(statement.kind, entityOf(statement).name, () => next(statement));
  return withMiddleware(driver, middleware, {
    joins: true,
    transaction: (work, options) =>
      seen("transaction", undefined, () =>
        driver.transaction((inner) => work(withMiddleware(inner, middleware, { joins: true }).execute), options),
      ),
  });
}
