import assert from "node:assert/strict";
import { type AnyEntity, createModel } from "../../entity/index.ts";
import type { Driver } from "../../gate/index.ts";
import { ConflictError, noopLogger } from "../../kernel/index.ts";
import type { DriverCase } from "./driver-case.ts";
import { everything, LIBRARY, plantLibrary } from "./library.ts";
import { READ_CASES } from "./read-cases.ts";
import { WRITE_CASES } from "./write-cases.ts";

/** Runs one write of each kind. */
async function touch(driver: Driver): Promise<void> {
  await driver.create("tag", { id: "t9", name: "green" });
  await driver.update("book", { id: "b2" }, { pages: 9 });
  await driver.delete("book", { id: "b1" });
  await driver.link("book", "tags", "b2", ["t9"]);
}

/** Transactions. */
const TRANSACTION_CASES: readonly DriverCase[] = [
  {
    title: "keeps what a transaction wrote, and gives what its work gave",
    async run(driver) {
      const count = await driver.transaction(async (inner) => {
        await touch(inner);
        return inner.count("tag");
      });
      assert.equal(count, 3, "a transaction sees what it has written");
      assert.equal(await driver.count("book"), 3);
      assert.deepEqual(await driver.links("book", "tags", ["b2"]), [{ source: "b2", target: "t9" }]);
    },
  },
  {
    title: "takes everything back when the work throws, and passes on what it threw",
    async run(driver) {
      const before = await everything(driver);
      const reason = new ConflictError("changed my mind");
      const work = driver.transaction(async (inner) => {
        await touch(inner);
        // A nested transaction joins the outer one.
        await inner.transaction((joined) => joined.create("tag", { id: "t8", name: "white" }));
        throw reason;
      });
      assert.equal(await work.catch((error: unknown) => error), reason);
      assert.deepEqual(await everything(driver), before);
    },
  },
  {
    title: "refuses statements on a transaction that is over",
    async run(driver) {
      let kept: Driver | undefined;
      await driver.transaction(async (inner) => {
        kept = inner;
      });
      const before = await everything(driver);
      const late = await kept?.create("tag", { id: "t9", name: "late" }).catch((error: unknown) => error);
      assert.equal((late as { code?: unknown }).code, "DATABASE_ERROR");
      assert.deepEqual(await everything(driver), before);
    },
  },
  {
    title: "loses no change when transactions read and write the same record",
    async run(driver) {
      const increment = (inner: Driver): Promise<unknown> =>
        inner
          .findOne("book", { id: "b4" }, { lock: true })
          .then((row) => inner.update("book", { id: "b4" }, { pages: (row?.pages as number) + 1 }));
      await Promise.all(Array.from({ length: 8 }, () => driver.transaction(increment)));
      assert.equal((await driver.findOne("book", { id: "b4" }))?.pages, 420);
    },
  },
];

export type { DriverCase } from "./driver-case.ts";

/** The contract of all drivers, for any test framework. */
export interface DriverContract {
  /** The entities of the cases. Create their tables before the first case, unless the driver creates them. */
  readonly entities: readonly AnyEntity[];
  /** Each case starts by replacing all records with the same small set: use a separate database. */
  readonly cases: readonly DriverCase[];
  /** Connects a driver like an app's start, and creates its tables if it can. */
  connect(driver: Driver): Promise<void>;
}

/**
 * The essential part of the driver contract: values, conditions, order, writes, constraints, links and transactions.
 * Cases share one database, so they must run one at a time.
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
