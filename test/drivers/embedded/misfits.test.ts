import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  bool,
  ConfigurationError,
  datetime,
  embedded,
  entity,
  float,
  int,
  json,
  keelson,
  manyToMany,
  noopLogger,
  postgres,
  string,
} from "../../../src/index.ts";
import { MIGRATION_PLACES, type MigrationPlace } from "../../support/migration-databases.ts";

type Entities = Parameters<typeof keelson>[0]["entities"];
type Options = { readonly push?: "auto" | "off"; readonly acceptDataLoss?: boolean };

const person = entity("person", { name: string });
const tag = entity("tag", { name: string }).timestamps(false);
/** The columns of a note are parameters, so that versions differ in one place. */
const noteWith = (columns: Parameters<typeof entity>[1]) =>
  entity("note", { author: belongsTo(() => person), tags: manyToMany(() => tag), ...columns }).timestamps(false);
const old = [
  person,
  tag,
  noteWith({
    title: string,
    slug: string.max(20).unique(),
    words: int,
    share: float,
    open: bool,
    due: datetime,
    extra: json,
    body: string.optional(),
  }),
] as unknown as Entities;
const wider = [
  person,
  tag,
  entity("mood", { name: string }).timestamps(false),
  noteWith({
    title: string.optional(),
    slug: string.unique(),
    words: int.default(3),
    share: float,
    open: bool,
    due: datetime,
    extra: json,
    body: string.optional(),
    lang: string.default("en"),
    rank: int.optional(),
  }).index(["rank", "lang"]),
] as unknown as Entities;
const narrower = [
  person,
  noteWith({
    slug: string,
    words: string,
    share: float,
    open: bool,
    due: datetime,
    extra: json,
    body: string,
    owner: string,
    tags: string.optional(),
  }),
] as unknown as Entities;

const record = {
  title: "one",
  slug: "one",
  words: 2 ** 31 - 1,
  share: 0.1,
  open: true,
  due: new Date(1),
  extra: { a: 1 },
};

describe.each(MIGRATION_PLACES)("an app on existing tables of %s", (name, open) => {
  let place: MigrationPlace;

  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.drop());

  async function start(entities: Entities, production: boolean, options: Options = {}) {
    const { url } = place.target;
    const driver =
      name === "SQLite" ? embedded({ file: url.slice("file:".length), ...options }) : postgres(url, options);
    const api = keelson({ entities, driver, production, logger: noopLogger });
    try {
      await api.ready;
      return api;
    } catch (error) {
      await api.close();
      throw error;
    }
  }

  async function problemsOf(entities: Entities, production: boolean, options: Options = {}) {
    const failure = await start(entities, production, options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    return (failure as ConfigurationError).problems.map((text) => text.replace(/^The database does not fit.*?: /, ""));
  }

  async function use(api: Awaited<ReturnType<typeof start>>, id: string): Promise<void> {
    const driver = api.driver;
    await driver.create("person", { id, name: "Ann", createdAt: new Date(0), updatedAt: new Date(0) });
    await driver.createMany("note", [{ ...record, id, slug: id, authorId: id, body: null }]);
    expect(await driver.findMany("note", { where: { id } })).toEqual([
      { ...record, id, slug: id, authorId: id, body: null },
    ]);
    await api.close();
  }

  it("starts next to a later version that added columns, tables, indexes and space", async () => {
    await use(await start(old, false), "n1");
    await (await start(wider, false)).close();
    if (name === "PostgreSQL")
      for (const [column, type] of [
        ["words", "bigint"],
        ["share", "numeric"],
        ["due", "timestamp(6)"],
        ["title", "text"],
      ])
        await place.rows(`ALTER TABLE note ALTER COLUMN ${column} TYPE ${type}`);
    await use(await start(old, true), "n2");
    await use(await start(old, true, { push: "off" }), "n3");
  });

  it("does not start next to one that removed what it needs, and names each difference", async () => {
    await place.rows(`DELETE FROM note`);
    await (await start(narrower, false, { acceptDataLoss: true })).close();
    const problems = await problemsOf(old, true);
    expect(problems).toEqual([
      'table "tag" is missing',
      'table "note": column "title" is missing',
      expect.stringMatching(
        /^table "note": column "words" has the type (text|varchar\(255\)), and integer is expected; change the column's type to integer, or declare the field as string$/,
      ),
      'table "note": column "body" is required in the database and optional in the entity; make both the same',
      'table "note": column "owner" is required, has no default, and is not in the entity, so no record can be created; give it a default, make it optional, or declare it',
      'table "note" has no unique index on "slug"',
      'table "_note_tags" is missing. Before the app starts, run: keelson migrate deploy',
    ]);
    expect(await problemsOf(old, true, { push: "off" })).toEqual(
      problems.filter((problem) => !problem.includes("unique index")),
    );
  });

  it("does not start with ids and columns of other types, in any mode", async () => {
    await place.rows(`CREATE TABLE ticket (id integer PRIMARY KEY, title text NOT NULL, price text NOT NULL, legacy text NOT NULL,
      "done" ${name === "SQLite" ? "text" : "smallint"} NOT NULL, "at" ${name === "SQLite" ? "integer" : "timestamptz"} NOT NULL)`);
    const ticket = entity("ticket", { title: string, price: float, done: bool, at: datetime }).timestamps(false);
    const entities = [ticket] as unknown as Entities;
    for (const production of [true, false]) {
      const problems = await problemsOf(entities, production, { push: "off" });
      expect(problems).toEqual([
        expect.stringMatching(
          /^table "ticket": column "id" has the type integer, and (text|varchar\(128\)) is expected; change/,
        ),
        expect.stringContaining('column "price" has the type text'),
        expect.stringContaining('column "done" has the type'),
        expect.stringContaining('column "at" has the type'),
        expect.stringContaining('column "legacy" is required, has no default'),
      ]);
    }
  });

  it("does not start without an existing table of pairs, in any mode", async () => {
    const ends = { own: "note_id", other: "label_id" };
    const label = entity("label", { name: string });
    const memo = entity("memo", { name: string, labels: manyToMany(() => label).through("memo_labels", ends) });
    const entities = [memo, label] as unknown as Entities;
    for (const push of ["auto", "off"] as const) {
      const problems = await problemsOf(entities, false, { push, acceptDataLoss: true });
      expect(problems).toContainEqual(expect.stringContaining('table "memo_labels" is missing'));
    }
  });
});
