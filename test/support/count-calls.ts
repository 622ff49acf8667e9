import { type Driver, withMiddleware } from "../../src/gate/index.ts";

/** Counts every statement and transaction of a driver. */
export function countCalls(driver: Driver, calls: { count: number }): Driver {
  const counting = withMiddleware(driver, (statement, next) => {
    calls.count += 1;
    return next(statement);
  });
  return withMiddleware(counting, (statement, next) => next(statement), {
    transaction: (work, options) => {
      calls.count += 1;
      return counting.transaction((inner) => work(inner.execute), options);
    },
  });
}
