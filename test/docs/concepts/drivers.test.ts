import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Driver,
  embedded,
  entity,
  int,
  type Keelson,
  keelson,
  memoryDriver,
  noopLogger,
  postgres,
  prisma,
  string,
  type Where,
} from "keelson";
import { defineDriver, withMiddleware } from "keelson/driver";
import type { EmbeddedOptions } from "keelson/prisma";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATORS } from "../../../src/entity/index.ts";
import { openPage, type Page } from "../../support/page.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, tableBelow } from "./table-below.ts";

interface Stock {
  createApi(driver: Driver): Keelson;
  take(driver: Driver, code: string, count: number): Promise<boolean>;
}

let page: Page;
let stock: Stock;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-drivers-"));
  page = openPage("concepts/drivers");
  stock = await page.load<Stock>("stock.ts");
});
afterAll(() => {
  page.remove();
  rmSync(folder, { recursive: true, force: true });
});

const fileOf = (name: string): string => join(folder, `${name}.db`);
const now = (): object => ({ createdAt: new Date(), updatedAt: new Date() });

describe("docs/concepts/drivers.md: the tables", () => {
  it("list every member of a driver, every operator and every option", () => {
    const port = "src/gate/statement/driver-port.ts";
    const members = new Set([...membersOf(port, "DriverPort"), ...membersOf(port, "Driver")]);
    expect(columnOf(page.text, "What a driver does").sort()).toEqual([...members].sort());
    expect(membersOf(port, "DriverPort")).toHaveLength(8);
    expect(columnOf(page.text, "Conditions").sort()).toEqual(Object.keys(OPERATORS).sort());
    const sources = { embedded: "embedded/embedded", postgres: "embedded/postgres", prisma: "prisma" };
    for (const [name, file] of Object.entries(sources)) {
      const options = membersOf(`src/drivers/prisma/${file}.ts`, `${name[0]?.toUpperCase()}${name.slice(1)}Options`);
      expect(columnOf(page.text, `Options of ${name}`).sort(), name).toEqual(options.sort());
    }
  });

  it("list the capabilities of each driver", () => {
    const drivers = [embedded(), postgres("postgres://localhost/none"), prisma({} as never), memoryDriver()];
    const rows = tableBelow(page.text, "The drivers").map((row) => row.slice(3));
    const shown = drivers.map(({ capabilities: { concurrentTransactions, durable } }) => [
      concurrentTransactions ? "yes" : "no",
      durable ? "yes" : "no",
    ]);
    expect(rows.map(([concurrent, durable]) => [concurrent?.split(",")[0], durable])).toEqual(shown);
    expect(prisma({} as never, { provider: "sqlite" }).capabilities.concurrentTransactions).toBe(false);
  });
});

const makers: Readonly<Record<string, () => Driver>> = {
  memoryDriver: () => memoryDriver(),
  embedded: () => embedded({ file: fileOf("contract") }),
};

describe.each(Object.entries(makers))("docs/concepts/drivers.md: what %s does", (_, make) => {
  let api: Keelson;
  let driver: Driver;
  beforeAll(async () => {
    driver = make();
    api = stock.createApi(driver);
    await api.ready;
    for (const [id, left] of [
      ["a", 5],
      ["b", 5],
      ["c", 9],
    ] as const)
      await driver.create("product", { id, code: id, left, ...now() });
    await driver.create("move", { id: "m", count: 1, productId: "a", ...now() });
  });
  afterAll(() => api.close());

  it("connects once to an existing database", async () => {
    const taken = await Promise.all([3, 3].map((count) => stock.take(driver, "b", count)));
    expect(taken.sort()).toEqual([false, true]);
    expect((await driver.findOne("product", { id: "b" }))?.left).toBe(2);
  });

  it("responds to mistakes with the errors of the table", async () => {
    const taken = driver.create("product", { id: "d", code: "a", left: 1, ...now() });
    await expect(taken).rejects.toMatchObject({ name: "ConflictError", status: 409 });
    const dangling = driver.create("move", { id: "n", count: 1, productId: "none", ...now() });
    await expect(dangling).rejects.toMatchObject({ name: "ValidationFailedError", status: 400 });
    const needed = driver.delete("product", { id: "a" });
    await expect(needed).rejects.toMatchObject({ name: "ReferencedError", status: 409 });
  });

  it("refuses unclear conditions", async () => {
    const inherited = Object.assign(Object.create({ code: "a" }), { left: 5 });
    for (const where of [{ nam: "a" }, { code: undefined }, inherited, { left: "5" }, { code: { lke: "a" } }])
      await expect(driver.findMany("product", { where }), JSON.stringify(where)).rejects.toThrow();
    await expect((async () => driver.updateMany("product", {}, { left: 0 }))()).rejects.toThrow();
    await expect((async () => driver.deleteMany("product", {}))()).rejects.toThrow();
    const lock = async () => driver.findOne("product", { code: "a" }, { lock: true });
    await expect(lock()).rejects.toMatchObject({ name: "BadRequestError" });
    const several = driver.update("product", { left: { gte: 0 } }, { left: 0 });
    await expect(several).rejects.toMatchObject({ name: "ConflictError" });
    expect(await driver.update("product", { code: "a" }, { left: 6 })).toMatchObject({ id: "a", left: 6 });
  });

  it("finds by related records, and ignores case in searches only", async () => {
    const codes = async (where: Where) => (await driver.findMany("product", { where })).map(({ code }) => code);
    expect(await codes({ moves: { count: 1 } })).toEqual(["a"]);
    expect(await codes({ code: "A" })).toEqual([]);
    expect(await codes({ code: { like: "A" } })).toEqual(["a"]);
    expect(await codes({ NOT: { code: ["a", "b"] } })).toEqual(["c"]);
    expect(await codes({ code: { like: "%" } })).toEqual([]);
  });

  it("protects a locked record from changes by others", async () => {
    const { left } = (await driver.findOne("product", { id: "a" })) as { left: number };
    const increment = async (inner: Driver): Promise<void> => {
      const row = await inner.findOne("product", { id: "a" }, { lock: true });
      await inner.update("product", { id: "a" }, { left: Number(row?.left) + 1 });
    };
    await Promise.all(Array.from({ length: 5 }, () => driver.transaction(increment)));
    expect((await driver.findOne("product", { id: "a" }))?.left).toBe(left + 5);
  });

  it("rolls back work that throws or takes too long, and refuses later calls", async () => {
    let kept: Driver | undefined;
    const broken = driver.transaction(async (inner) => {
      kept = inner;
      await inner.transaction((joined) => joined.update("product", { id: "c" }, { left: 0 }));
      throw new TypeError("no");
    });
    await expect(broken).rejects.toThrow("no");
    await expect((async () => kept?.count("product"))()).rejects.toMatchObject({ name: "DatabaseError" });
    const late = driver.transaction(
      async (inner) => {
        await inner.update("product", { id: "c" }, { left: 0 });
        await new Promise(() => {});
      },
      { timeout: 100 },
    );
    await expect(late).rejects.toThrow(/took longer than 100 ms/);
    expect((await driver.findOne("product", { id: "c" }))?.left).toBe(9);
  });
});

describe("docs/concepts/drivers.md: tables", () => {
  const full = entity("thing", { name: string, size: int.default(1) });
  const less = entity("thing", { name: string });
  const start = async (definition: typeof full | typeof less, options: EmbeddedOptions, production = false) => {
    const driver = embedded({ file: fileOf("tables"), ...options });
    const app = keelson({ entities: [definition as typeof full], driver, production, logger: noopLogger });
    try {
      await app.ready;
      return (await driver.count("thing")) === 0
        ? app
            .asSystem()
            .thing.create({ name: "x" })
            .then(() => "filled")
        : "ok";
    } catch (error) {
      return (error as Error).message;
    } finally {
      await app.close();
    }
  };

  it("are created and compared at the start, and never lose values on their own", async () => {
    expect(await start(full, {}, true)).toMatch(/does not fit/);
    expect(await start(full, {})).toBe("filled");
    expect(await start(full, {}, true)).toBe("ok");
    expect(await start(less, {})).toMatch(/acceptDataLoss: true/);
    expect(await start(full, {}, true)).toBe("ok");
    expect(await start(less, { push: "off" })).toBe("ok");
    expect(await start(less, {}, true)).toBe("ok");
    expect(await start(less, { acceptDataLoss: true })).toBe("ok");
    expect(await start(full, {}, true)).toMatch(/column "size" is missing/);
    expect(await start(full, { push: "off" })).toMatch(/column "size" is missing/);
  });
});

describe("docs/concepts/drivers.md: the rest", () => {
  it("completes seeds, and serves one app", async () => {
    const product = entity("product", { code: string, left: int.default(3) });
    const driver = memoryDriver({ product: [{ code: "a" }] });
    const app = keelson({ entities: [product], driver });
    await app.ready;
    expect(await driver.findMany("product")).toMatchObject([{ id: "product-0001", code: "a", left: 3 }]);
    await app.close();
    const file = embedded({ file: fileOf("shared") });
    const [one, two] = [product, entity("other", {})].map((of) =>
      keelson({ entities: [of], driver: file, logger: noopLogger }),
    );
    await one?.ready;
    await expect(two?.ready).rejects.toThrow(/one driver per app/);
    await one?.close();
    expect([typeof defineDriver, typeof withMiddleware]).toEqual(["function", "function"]);
    expect(() => keelson({ entities: [product], driver: { ...memoryDriver() } as Driver })).toThrow(
      "defineDriver(port)",
    );
  });

  it("responds with 503 while the database is unavailable", async () => {
    const note = entity("note", { text: string }).rules({ read: ["everyone"] });
    const driver = postgres("postgres://nobody@127.0.0.1:1/none", { connectionTimeout: 500 });
    const app = keelson({ entities: [note], driver, logger: noopLogger });
    await expect(app.ready).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    const answer = await app.fetch(new Request("http://host.invalid/api/notes"));
    expect([answer.status, answer.headers.has("retry-after")]).toEqual([503, true]);
    await app.close();
  });
});
