import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ColumnDefinition } from "../../src/entity/index.ts";
import { compare, type Middleware, type MiddlewareOptions, soleId, withMiddleware } from "../../src/gate/index.ts";
import { type Driver, memoryDriver } from "../../src/index.ts";
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

const EARLY = new Date("1965-08-01T00:00:00Z");

type Broken = readonly [
  title: string,
  middleware: Middleware,
  found: RegExp,
  options?: (inner: Driver) => MiddlewareOptions,
];

/** Drivers that break one promise, and the case that detects it. */
const BROKEN: readonly Broken[] = [
  [
    "forgets the rest of the condition on an update",
    (statement, next) => {
      if (statement.kind !== "update") return next(statement);
      const id = soleId(statement.where);
      const column = statement.entity.columns.id as ColumnDefinition;
      return next(id === undefined ? statement : { ...statement, where: compare(column, "eq", id) });
    },
    /only while the rest of the condition holds/,
  ],
  [
    "does not count versions",
    async (statement, next) => {
      if (statement.kind !== "update") return next(statement);
      const { count, rows } = await next(statement);
      return { count, rows: rows.map((row) => ("version" in row ? { ...row, version: 1 } : row)) };
    },
    /counts the versions of records/,
  ],
  [
    "has no transactions",
    (statement, next) => next(statement),
    /takes everything back when the work throws/,
    (inner) => ({ transaction: (work) => work(inner.execute) }),
  ],
  [
    "sorts by what comes first",
    (statement, next) => next(statement.kind === "find" ? { ...statement, sort: undefined } : statement),
    /orders by id by default/,
  ],
  [
    "stores moments without milliseconds",
    (statement, next) =>
      next(
        statement.kind === "insert"
          ? {
              ...statement,
              rows: statement.rows.map((row) => (row.releasedAt instanceof Date ? { ...row, releasedAt: EARLY } : row)),
            }
          : statement,
      ),
    /every kind of value as it was stored/,
  ],
  [
    "hides conflicts",
    async (statement, next) => {
      if (statement.kind !== "insert") return next(statement);
      return next(statement).catch(() => ({ count: 1, rows: statement.rows }));
    },
    /a unique value that is taken, and names the columns/,
  ],
];

describe("driverContract", () => {
  it.each(BROKEN.map((broken) => [broken[0], broken] as const))(
    "finds a driver that %s",
    async (_, [, broken, title, options]) => {
      const inner = memoryDriver();
      await contract.connect(inner);
      const driver = withMiddleware(inner, broken, options?.(inner));
      const failed: string[] = [];
      for (const { title: of, run } of contract.cases) await run(driver).catch(() => failed.push(of));
      expect(failed.some((of) => title.test(of))).toBe(true);
      expect(failed.length).toBeLessThan(contract.cases.length);
    },
  );
});
