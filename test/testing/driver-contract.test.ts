import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Driver, memoryDriver } from "../../src/index.ts";
import { overlayDriver } from "../../src/kernel/index.ts";
import { driverContract } from "../../src/testing/index.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

const contract = driverContract();

async function openMemory(): Promise<Pick<SqlDatabase, "driver" | "drop">> {
  return { driver: memoryDriver(), drop: async () => {} };
}

describe.each([["memory", openMemory], ...SQL_DATABASES] as const)("driverContract on %s", (_, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    database = await open();
    await contract.connect(database.driver);
  });
  afterAll(async () => {
    await database.driver.disconnect();
    await database.drop();
  });

  for (const { title, run } of contract.cases) it(title, () => run(database.driver));
});

/** Drivers that break one promise, and the case that finds out. */
const BROKEN: readonly (readonly [string, (inner: Driver) => Partial<Driver>, RegExp])[] = [
  [
    "forgets the rest of the condition on an update",
    (inner) => ({ update: (ref, { id }, data) => inner.update(ref, { id }, data) }),
    /only while the rest of the condition holds/,
  ],
  [
    "does not count versions",
    (inner) => ({
      async update(ref, where, data) {
        const row = await inner.update(ref, where, data);
        return row !== null && "version" in row ? { ...row, version: 1 } : row;
      },
    }),
    /counts the versions of records/,
  ],
  [
    "has no transactions",
    (inner) => ({ transaction: (work) => work(inner) }),
    /takes everything back when the work throws/,
  ],
  [
    "sorts by what comes first",
    (inner) => ({ findMany: (ref, { sort: _, ...query } = {}) => inner.findMany(ref, query) }),
    /orders by id unless it is told otherwise/,
  ],
  [
    "stores moments without milliseconds",
    (inner) => ({
      createMany: (ref, rows) =>
        inner.createMany(
          ref,
          rows.map((row) =>
            row.releasedAt instanceof Date ? { ...row, releasedAt: new Date("1965-08-01T00:00:00Z") } : row,
          ),
        ),
    }),
    /every kind of value as it was stored/,
  ],
  [
    "hides conflicts",
    (inner) => ({ create: (ref, data) => inner.create(ref, data).catch(() => data) }),
    /a value that somebody has, and names the columns/,
  ],
];

describe("driverContract", () => {
  it.each(BROKEN)("finds a driver that %s", async (_, broken, title) => {
    const inner = memoryDriver();
    await contract.connect(inner);
    const driver = overlayDriver(inner, broken(inner));
    const failed: string[] = [];
    for (const { title: of, run } of contract.cases) await run(driver).catch(() => failed.push(of));
    expect(failed.some((of) => title.test(of))).toBe(true);
    expect(failed.length).toBeLessThan(contract.cases.length);
  });
});
