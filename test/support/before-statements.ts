import { type Driver, type Statement, withMiddleware } from "../../src/gate/index.ts";

/** Wraps a driver so that a callback runs before each statement of a kind, outside its transactions. */
export function beforeStatements(
  driver: Driver,
  kind: Statement["kind"],
  happens: (statement: Statement) => unknown,
): Driver {
  return withMiddleware(driver, async (statement, next, inner) => {
    if (statement.kind === kind && inner === driver) await happens(statement);
    return next(statement);
  });
}
