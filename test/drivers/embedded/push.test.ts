import { createClient } from "@libsql/client";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  ConfigurationError,
  datetime,
  type EntityLike,
  entity,
  hasOne,
  int,
  json,
  manyToMany,
  string,
} from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { connectDriver, driverContext } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";

type Options = { readonly acceptDataLoss?: boolean; readonly push?: "auto" | "off" };

const DATABASES = {
  async embedded() {
    const { file, remove } = await freshSqliteFile();
    return { make: (options: Options = {}) => embedded({ file, ...options }), drop: remove };
  },
  async postgres() {
    const { url, drop } = await freshPostgres();
    return { make: (options: Options = {}) => postgres(url, options), drop };
  },
} as const;

const timeless = (name: string, fields: Parameters<typeof entity>[1]): EntityLike =>
  entity(name, fields).timestamps(false) as unknown as EntityLike;

const first = (): EntityLike => timeless("note", { title: string, words: int.optional() });

describe.each(["embedded", "postgres"] as const)("tables of %s", (name) => {
  const open: Driver[] = [];
  const drops: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const driver of open.splice(0)) await driver.disconnect();
    for (const drop of drops.splice(0)) await drop();
  });

  /** A database; `start` starts an app with other entities on it. */
  async function database() {
    const { make, drop } = await DATABASES[name]();
    drops.push(drop);
    return async (entities: readonly EntityLike[], options: Options = {}): Promise<Driver> => {
      for (const driver of open.splice(0)) await driver.disconnect();
      const driver = make(options);
      await driver.connect(driverContext(entities));
      open.push(driver);
      return driver;
    };
  }

  async function refusal(driver: Driver): Promise<readonly string[]> {
    const failure = await driver.schema?.push().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    return (failure as ConfigurationError).problems;
  }

  it("are created, are then up to date, and are unchanged without differences", async () => {
    const start = await database();
    const driver = await start([first()]);
    expect(driver.schema?.mode).toBe("auto");
    expect(await driver.schema?.pending()).toEqual(['table "note" is missing']);
    expect(await driver.schema?.push()).toEqual({ changed: true });
    expect(await driver.schema?.pending()).toEqual([]);
    expect(await driver.schema?.push()).toEqual({ changed: false });
  });

  it("grow with the entities and keep their rows", async () => {
    const start = await database();
    const before = await start([first()]);
    await before.schema?.push();
    await before.create("note", { id: "n1", title: "kept", words: 3 });
    const grown = timeless("note", {
      title: string,
      words: int.optional(),
      lang: string.default("en; drop table"),
      labels: manyToMany(() => label),
    });
    const label = timeless("label", { name: string.unique() });
    const after = await start([grown, label]);
    expect(await after.schema?.pending()).not.toEqual([]);
    expect(await after.schema?.push()).toEqual({ changed: true });
    expect(await after.findMany("note")).toEqual([{ id: "n1", title: "kept", words: 3, lang: "en; drop table" }]);
    expect(await after.schema?.pending()).toEqual([]);
  });

  it("fill rows with any default, quotes and milliseconds included", async () => {
    const start = await database();
    const before = await start([timeless("note", { a: json.optional(), b: json.optional() })]);
    await before.schema?.push();
    await before.create("note", { id: "n1", a: null, b: null });
    const moment = new Date("2024-05-31T12:00:00.123Z");
    const filled = timeless("note", {
      // Only SQLite rebuilds the table, and fills null values in the process; PostgreSQL refuses.
      a: name === "embedded" ? json.default({ "it's": ['"', { b: null }] }) : json.optional(),
      b: name === "embedded" ? json.default(true) : json.optional(),
      c: json.default(["'"]),
      d: json.default(false),
      e: datetime.default(moment),
      f: string.default("it's; -- \n JSONB DEFAULT x"),
    });
    const after = await start([filled]);
    expect(await after.schema?.push()).toEqual({ changed: true });
    expect(await after.schema?.pending()).toEqual([]);
    const [row] = await after.findMany("note");
    expect(row).toMatchObject({ c: ["'"], d: false, e: moment, f: "it's; -- \n JSONB DEFAULT x" });
    if (name === "embedded") expect(row).toMatchObject({ a: { "it's": ['"', { b: null }] }, b: true });
    expect(await after.count("note", { e: moment })).toBe(1);
  });

  it("are unchanged if a column with data would be dropped; the error names the option", async () => {
    const start = await database();
    const before = await start([first()]);
    await before.schema?.push();
    await before.create("note", { id: "n1", title: "kept", words: 3 });
    const shrunk = [timeless("note", { title: string }), timeless("other", { name: string })];
    const after = await start(shrunk);
    const problems = await refusal(after);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/drop the column `words` on the `note` table, which still contains 1 non-null/);
    const option =
      name === "embedded" ? "embedded({ acceptDataLoss: true })" : "postgres(url, { acceptDataLoss: true })";
    expect(problems[1]).toContain(option);
    expect(await after.schema?.pending()).toContain('table "other" is missing');
    const again = await start([first()]);
    expect(await again.findMany("note")).toEqual([{ id: "n1", title: "kept", words: 3 }]);
    const accepting = await start(shrunk, { acceptDataLoss: true });
    expect(await accepting.schema?.push()).toEqual({ changed: true });
    expect(await accepting.findMany("note")).toEqual([{ id: "n1", title: "kept" }]);
    expect(await accepting.schema?.pending()).toEqual([]);
  });

  it("of a removed entity stay while they have rows, and are dropped on request", async () => {
    const start = await database();
    const other = timeless("other", { name: string });
    const before = await start([first(), other]);
    await before.schema?.push();
    await before.create("other", { id: "o1", name: "one" });
    expect((await refusal(await start([first()])))[0]).toMatch(/drop the `other` table, which is not empty/);
    const after = await start([first()], { acceptDataLoss: true });
    expect(await after.schema?.push()).toEqual({ changed: true });
    expect(await after.schema?.pending()).toEqual([]);
  });

  it("get no required column that existing rows could not fill", async () => {
    const start = await database();
    const before = await start([first()]);
    await before.schema?.push();
    await before.create("note", { id: "n1", title: "kept", words: null });
    const demanding = timeless("note", { title: string, words: int.optional(), lang: string });
    const [problem, ...rest] = await refusal(await start([demanding], { acceptDataLoss: true }));
    expect(problem).toMatch(/required column `lang` .* Give the field a default, or make it optional/);
    expect(rest).toEqual([]);
  });

  it("become unique if their rows are, and otherwise do not change", async () => {
    const start = await database();
    const before = await start([first()]);
    await before.schema?.push();
    await before.create("note", { id: "n1", title: "hunter2-canary", words: 1 });
    await before.create("note", { id: "n2", title: "hunter2-canary", words: 1 });
    const strict = [
      timeless("aaa", { name: string }),
      timeless("note", { title: string.unique(), words: int.optional() }),
    ];
    const driver = await start(strict);
    const [problem] = await refusal(driver);
    expect(problem).toMatch(/rows share a value that became unique \(.*title.*\); nothing was changed/);
    expect(problem).not.toContain("canary");
    expect(await driver.schema?.pending()).toContain('table "aaa" is missing');
    const fixed = await start([first()]);
    await fixed.update("note", { id: "n2" }, { title: "another" });
    const retried = await start(strict);
    expect(await retried.schema?.push()).toEqual({ changed: true });
    expect(await retried.count("note")).toBe(2);
  });

  it("keep values unique among live records only while the entity asks for it", async () => {
    const start = await database();
    const fields = { title: string.unique(), a: string.optional(), b: string.optional(), gone: datetime.optional() };
    const hard = (): EntityLike => entity("note", fields).unique(["a", "b"]).timestamps(false) as unknown as EntityLike;
    const soft = (more: object = {}): EntityLike =>
      entity("note", { ...fields, ...more })
        .unique(["a", "b"])
        .timestamps(false)
        .softDelete("gone") as unknown as EntityLike;
    const row = { title: "one", a: "x", b: "y", gone: null };
    const before = await start([hard()]);
    await before.schema?.push();
    await before.create("note", { id: "n1", ...row });

    const asking = await start([soft()]);
    expect(await asking.schema?.pending()).not.toEqual([]);
    expect(await asking.schema?.push()).toEqual({ changed: true });
    expect(await asking.schema?.pending()).toEqual([]);
    expect(await asking.schema?.push()).toEqual({ changed: false });
    await asking.create("note", { id: "n2", ...row, gone: new Date() });
    await expect(asking.create("note", { id: "n3", ...row })).rejects.toMatchObject({ status: 409 });

    const grown = await start([soft({ words: int.default(0) })]);
    expect(await grown.schema?.push()).toEqual({ changed: true });
    expect(await grown.schema?.pending()).toEqual([]);
    await expect(grown.create("note", { id: "n3", ...row, words: 1 })).rejects.toMatchObject({ status: 409 });

    expect((await refusal(await start([hard()], { acceptDataLoss: true })))[0]).toMatch(
      /share a value that became unique/,
    );
    const cleared = await start([soft()], { acceptDataLoss: true });
    await cleared.schema?.push();
    await cleared.delete("note", { id: "n2" });
    const after = await start([hard()]);
    expect(await after.schema?.push()).toEqual({ changed: true });
    expect(await after.schema?.pending()).toEqual([]);
    await expect(after.create("note", { id: "n3", ...row, gone: new Date() })).rejects.toMatchObject({ status: 409 });
    const again = await start([soft()]);
    expect(await again.schema?.push()).toEqual({ changed: true });
    await again.create("note", { id: "n3", ...row, gone: new Date() });
    const without = await start([first()], { acceptDataLoss: true });
    await expect(without.schema?.push()).resolves.toEqual({ changed: true });
    expect(await without.schema?.pending()).toEqual([]);
  });

  it("keep the rows that refer to theirs when they are rebuilt", async () => {
    const start = await database();
    const parent = (fields: Parameters<typeof entity>[1]): EntityLike =>
      timeless("parent", { ...fields, child: hasOne(() => child) });
    const one = parent({ name: string });
    const two = parent({ name: string.optional(), age: int.default(1) });
    let current = one;
    const child: EntityLike = timeless("child", { parent: belongsTo(() => current).onDelete("cascade") });
    const before = await start([one, child]);
    await before.schema?.push();
    await before.create("parent", { id: "p1", name: "one" });
    await before.create("child", { id: "c1", parentId: "p1" });
    current = two;
    const after = await start([two, child]);
    expect(await after.schema?.push()).toEqual({ changed: true });
    expect(await after.findMany("parent")).toEqual([{ id: "p1", name: "one", age: 1 }]);
    expect(await after.findMany("child")).toEqual([{ id: "c1", parentId: "p1" }]);
    expect(await after.delete("parent", { id: "p1" })).toBe(true);
    expect(await after.count("child")).toBe(0);
  });

  it("can be changed by several processes that start at once", async () => {
    const { make, drop } = await DATABASES[name]();
    const drivers = [make(), make(), make()];
    await Promise.all(drivers.map((driver) => connectDriver(driver, [first()])));
    expect(await drivers[0]?.schema?.pending()).toEqual([]);
    for (const driver of drivers) await driver.disconnect();
    await drop();
  });

  it("are left to the user if the option says so", async () => {
    const start = await database();
    const driver = await start([first()], { push: "off" });
    expect(driver.schema?.mode).toBe("off");
    expect(await driver.schema?.pending()).toEqual(['table "note" is missing']);
  });
});

describe("a PostgreSQL database shared with other programs", () => {
  it("keeps their tables, types and rows", async () => {
    const { url, drop } = await freshPostgres();
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(`CREATE TYPE mood AS ENUM ('good', 'bad');
      CREATE TABLE theirs (id int PRIMARY KEY, mood mood);
      CREATE TABLE more (id int PRIMARY KEY, theirs int REFERENCES theirs);
      INSERT INTO theirs VALUES (1, 'good')`);
    const driver = postgres(url, { acceptDataLoss: true });
    await connectDriver(driver, [first()]);
    expect(await driver.schema?.pending()).toEqual([]);
    expect((await admin.query("SELECT mood FROM theirs")).rows).toEqual([{ mood: "good" }]);
    expect((await admin.query("SELECT count(*)::int AS n FROM more")).rows).toEqual([{ n: 0 }]);
    await driver.disconnect();
    await admin.end();
    await drop();
  });

  it("keeps tables that others create while Keelson's are changed", async () => {
    const { url, drop } = await freshPostgres();
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    let made = 0;
    for (const entities of [[first()], [first(), timeless("other", { a: int })], [first()]]) {
      const driver = postgres(url, { acceptDataLoss: true });
      const changes = { isOver: false };
      const changing = connectDriver(driver, entities).finally(() => {
        changes.isOver = true;
      });
      while (!changes.isOver) await admin.query(`CREATE TABLE theirs_${made++} (id int PRIMARY KEY)`);
      await changing;
      await driver.disconnect();
    }
    const { rows } = await admin.query("SELECT count(*)::int AS n FROM pg_tables WHERE tablename LIKE 'theirs%'");
    expect(rows).toEqual([{ n: made }]);
    await admin.end();
    await drop();
  });

  it("may have a separate schema for Keelson's tables", async () => {
    const { url, drop } = await freshPostgres();
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const driver = await connectDriver(postgres(`${url}?schema=app`), [first()]);
    await driver.create("note", { id: "n1", title: "one", words: 1 });
    expect((await admin.query('SELECT title FROM app."note"')).rows).toEqual([{ title: "one" }]);
    expect(await driver.schema?.pending()).toEqual([]);
    await driver.disconnect();
    await admin.end();
    await drop();
  });
});

describe("a table of pairs that .through() names", () => {
  it("is left alone by a push on SQLite", async () => {
    const { file, remove } = await freshSqliteFile();
    const client = createClient({ url: `file:${file}` });
    await client.execute(`create table "follows" ("own" text not null, "other" text not null)`);
    const ends = { own: "own", other: "other" };
    const person = timeless("person", { name: string, follows: manyToMany(() => person).through("follows", ends) });
    const driver = await connectDriver(embedded({ file }), [person]);
    expect(await driver.schema?.pending()).toEqual([]);
    const { rows } = await client.execute("select name from sqlite_master where name in ('follows', 'person')");
    expect(rows).toHaveLength(2);
    await driver.disconnect();
    client.close();
    await remove();
  });
});
