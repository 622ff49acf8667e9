import { type AnyEntity, createModel } from "../../entity/index.ts";
import { type Driver, noopLogger } from "../../kernel/index.ts";
import type { DriverCase } from "./driver-case.ts";
import { LIBRARY, plantLibrary } from "./library.ts";
import { READ_CASES } from "./read-cases.ts";
import { TRANSACTION_CASES } from "./transaction-cases.ts";
import { WRITE_CASES } from "./write-cases.ts";

export type { DriverCase } from "./driver-case.ts";

/** What every driver does, for any test framework. */
export interface DriverContract {
  /** What the driver under test stores. Make their tables before the first case, unless the driver makes them itself. */
  readonly entities: readonly AnyEntity[];
  /** Each begins with the same few records, whatever was there before: use a database of its own. */
  readonly cases: readonly DriverCase[];
  /** Connects a driver as the start of an app does, and makes its tables where it can. */
  connect(driver: Driver): Promise<void>;
}

/**
 * The essential part of the contract that all drivers keep: values, conditions, order, writes, constraints, links and
 * transactions. Cases use one database, so they run one after the other.
 * @example
 * const contract = driverContract()
 * const driver = myDriver()
 * beforeAll(() => contract.connect(driver))
 * for (const { title, run } of contract.cases) it(title, () => run(driver))
 */
export function driverContract(): DriverContract {
  const cases = [...READ_CASES, ...WRITE_CASES, ...TRANSACTION_CASES].map(({ title, run }) => ({
    title,
    async run(driver: Driver) {
      await plantLibrary(driver);
      await run(driver);
    },
  }));
  return Object.freeze<DriverContract>({
    entities: LIBRARY,
    cases: Object.freeze(cases),
    async connect(driver) {
      await driver.connect({ model: createModel(LIBRARY), log: noopLogger, production: false });
      await driver.schema?.push();
    },
  });
}
