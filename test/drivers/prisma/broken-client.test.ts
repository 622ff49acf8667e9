import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import { type ColumnDefinition, entity, string } from "../../../src/entity/index.ts";
import { DatabaseError, type Driver, type Row } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { driverContext } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";

// Prisma's query compiler panics at a condition on a column called "not", which the builder of entities refuses.
const plain = entity("word", { text: string }).timestamps(false).build();
const not: ColumnDefinition = { ...(plain.columns.text as ColumnDefinition), name: "not" };
const word = { ...plain, columns: { ...plain.columns, not } };

function rowOf(id: string): Row {
  return { id, text: id, not: "x" };
}

/** Has Prisma's query compiler panic. */
function panic(driver: Driver): Promise<unknown> {
  return driver.findMany("word", { where: { not: "x" } });
}

describe.each([
  [
    "embedded",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { driver: embedded({ file }), drop: remove };
    },
  ],
  [
    "postgres",
    async () => {
      const { url, drop } = await freshPostgres();
      return { driver: postgres(url), drop };
    },
  ],
] as const)("%s, when Prisma's client breaks,", (_, make) => {
  const log = recordingLogger();
  let driver: Driver;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const made = await make();
    drop = made.drop;
    driver = made.driver;
    await driver.connect(driverContext([word], { log }));
    await driver.schema?.push();
    await driver.create("word", rowOf("first"));
  });
  afterAll(async () => {
    await driver.disconnect();
    await drop();
  });

  it("fails that statement and serves the next one, reads and writes alike", async () => {
    for (const id of ["a", "b", "c"]) {
      await expect(panic(driver)).rejects.toThrow(DatabaseError);
      expect(await driver.findOne("word", { id: "first" })).toEqual(rowOf("first"));
      await expect(panic(driver)).rejects.toMatchObject({ status: 500 });
      expect(await driver.create("word", rowOf(id))).toEqual(rowOf(id));
    }
    expect(await driver.count("word", { id: ["a", "b", "c"] })).toBe(3);
  });

  it("opens one client for all who ask", async () => {
    const before = log.lines.length;
    await Promise.allSettled([panic(driver), panic(driver), panic(driver)]);
    const texts = ["u", "v", "w", "x", "y", "z"];
    const found = await Promise.all(texts.map((text) => driver.count("word", { text: { ne: text } })));
    expect(new Set(found).size).toBe(1);
    expect(log.lines.slice(before)).toEqual(['warn The database client broke; another one is opened {"code":"PANIC"}']);
  });

  it("rolls back a transaction that was under way, and runs the next", async () => {
    const [written, broken] = [deferred<void>(), deferred<void>()];
    const transaction = driver.transaction(async (inner) => {
      await inner.create("word", rowOf("lost"));
      written.resolve();
      await broken.promise;
      await inner.create("word", rowOf("lost too"));
    });
    const outcome = expect(transaction).rejects.toThrow(DatabaseError);
    await written.promise;
    await expect(panic(driver)).rejects.toThrow(DatabaseError);
    broken.resolve();
    await outcome;
    await driver.transaction((inner) => inner.create("word", rowOf("kept")));
    expect(await driver.count("word", { id: ["lost", "lost too"] })).toBe(0);
    expect(await driver.count("word", { id: "kept" })).toBe(1);
  });

  it("rolls back the transaction whose own statement did it", async () => {
    const transaction = driver.transaction(async (inner) => {
      await inner.create("word", rowOf("undone"));
      await panic(inner);
    });
    await expect(transaction).rejects.toThrow(DatabaseError);
    await driver.transaction((inner) => inner.create("word", rowOf("done")));
    expect(await driver.count("word", { id: "undone" })).toBe(0);
    expect(await driver.count("word", { id: "done" })).toBe(1);
  });

  it("can be disconnected and connected again", async () => {
    await expect(panic(driver)).rejects.toThrow(DatabaseError);
    const reading = driver.findOne("word", { id: "first" }).catch((error: unknown) => error);
    await driver.disconnect();
    await reading;
    await expect(driver.findOne("word", { id: "first" })).rejects.toThrow("is not connected");
    await driver.connect(driverContext([word], { log }));
    expect(await driver.findOne("word", { id: "first" })).toEqual(rowOf("first"));
  });
});
