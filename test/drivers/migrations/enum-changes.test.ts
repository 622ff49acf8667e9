import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openMigrations, postgres } from "../../../src/drivers/prisma/index.ts";
import { type AnyField, type EntityLike, entity, enums, string } from "../../../src/entity/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { SQL_DATABASES, type SqlDatabase } from "../../support/sql-databases.ts";

const openPostgres = SQL_DATABASES.find(([name]) => name === "PostgreSQL")?.[1] as () => Promise<SqlDatabase>;
const task = (state: AnyField) => entity("task", { state }).timestamps(false);

describe("a native enum of PostgreSQL", () => {
  let database: SqlDatabase;
  beforeEach(async () => {
    database = await openPostgres();
  });
  afterEach(() => database.drop());

  async function push(entities: readonly EntityLike[], acceptDataLoss = false): Promise<void> {
    const driver = postgres(database.url, { acceptDataLoss });
    await connectDriver(driver, entities);
    expect(await driver.schema?.pending()).toEqual([]);
    await driver.disconnect();
  }
  const words = async (): Promise<unknown[]> =>
    (
      await database.rows("select enumlabel::text as word from pg_enum join pg_type t on t.oid = enumtypid order by 1")
    ).map(({ word }) => word);

  it("gets added values, in the order of their declaration", async () => {
    await push([task(enums("a", "c").native())]);
    await database.rows("insert into task (id, state) values ('1', 'c')");
    await push([task(enums("a", "b", "c", "d").native())]);
    expect(await words()).toEqual(["a", "b", "c", "d"]);
    expect(await database.rows("select state::text from task")).toEqual([{ state: "c" }]);
  });

  it("accepts a default that is a new value", async () => {
    await push([task(enums("a").native().default("a"))]);
    await push([task(enums("a", "b").native().default("b"))]);
    await database.rows("insert into task (id) values ('1')");
    expect(await database.rows("select state::text from task")).toEqual([{ state: "b" }]);
  });

  it("loses a value only with acceptDataLoss", async () => {
    await push([task(enums("a", "b").native())]);
    await expect(push([task(enums("a").native())])).rejects.toThrow(/acceptDataLoss/);
    await push([task(enums("a").native())], true);
    expect(await words()).toEqual(["a"]);
  });

  it("replaces text and is replaced by it, with all values", async () => {
    await push([task(enums("a", "b").default("a"))]);
    await database.rows("insert into task (id, state) values ('1', 'b')");
    await push([task(enums("b", "a").native().default("a"))]);
    expect(await database.rows("select state::text, pg_typeof(state)::text as type from task")).toEqual([
      { state: "b", type: "task_state" },
    ]);
  });

  it("is dropped with its entity, and those of others stay", async () => {
    await database.rows("create type mood as enum ('good')");
    await push([task(enums("a").native()), entity("other", { name: string })]);
    await push([entity("other", { name: string })], true);
    expect(await words()).toEqual(["good"]);
  });

  it("is created and changed by migrations", async () => {
    const directory = await mkdtemp(join(tmpdir(), "enums-"));
    const migrate = async (entities: readonly EntityLike[]): Promise<string> => {
      const target = { provider: "postgresql", url: database.url } as const;
      const migrations = await openMigrations({ entities, target, directory });
      const created = await migrations.create("step");
      await migrations.deploy();
      expect((await migrations.diff()).isEmpty).toBe(true);
      await migrations.close();
      return readFile(join(created?.directory ?? "", "migration.sql"), "utf8");
    };
    expect(await migrate([task(string)])).toContain("CREATE TABLE");
    await database.rows("insert into task (id, state) values ('1', 'b')");
    expect(await migrate([task(enums("a", "b").native())])).toContain("USING");
    expect(await migrate([task(enums("a", "b", "c").native().default("a"))])).toMatch(/ADD VALUE/);
    expect(await words()).toEqual(["a", "b", "c"]);
    expect(await database.rows("select state::text from task")).toEqual([{ state: "b" }]);
  });
});

describe("an enum that is no longer native", () => {
  it("is text with the same values on PostgreSQL", async () => {
    const database = await openPostgres();
    for (const field of [enums("a", "b").native(), enums("a", "b")]) {
      const driver = postgres(database.url);
      await connectDriver(driver, [task(field)]);
      await driver.disconnect();
      await database.rows("insert into task (id, state) values ('1', 'b') on conflict do nothing");
    }
    expect(await database.rows("select state from task")).toEqual([{ state: "b" }]);
    await database.drop();
  });
});
