import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Migrations, openMigrations } from "../../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  bool,
  ConfigurationError,
  entity,
  float,
  int,
  manyToMany,
  string,
  text,
} from "../../../src/entity/index.ts";
import { DatabaseUnavailableError } from "../../../src/kernel/index.ts";
import { MIGRATION_PLACES, type MigrationPlace, openPostgresPlace } from "../../support/migration-databases.ts";

const user = entity("user", { name: string }).timestamps(false);
const post = entity("post", {
  title: string,
  views: int.default(0),
  author: belongsTo(() => user),
}).timestamps(false);
const first = [user, post];

describe.each(MIGRATION_PLACES)("migrations of %s", (name, open) => {
  const opened: Migrations[] = [];
  const places: MigrationPlace[] = [];

  afterEach(async () => {
    for (const migrations of opened.splice(0)) await migrations.close();
    for (const place of places.splice(0)) await place.drop();
  });

  async function newPlace(): Promise<MigrationPlace> {
    const place = await open();
    places.push(place);
    return place;
  }

  async function at(place: MigrationPlace, entities: readonly unknown[]): Promise<Migrations> {
    const migrations = await place.open(entities);
    opened.push(migrations);
    return migrations;
  }

  async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
    const failure = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(ConfigurationError);
    return (failure as ConfigurationError).problems;
  }

  async function scriptOf(folder: string): Promise<string> {
    return readFile(join(folder, "migration.sql"), "utf8");
  }

  it("are written in Prisma's layout, and deployed once", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    const created = await migrations.create("First tables!");
    expect(created?.directory).toMatch(/\/migrations\/\d{14}_first_tables$/);
    expect(await readFile(join(place.directory, "migration_lock.toml"), "utf8")).toContain(
      `provider = "${place.target.provider}"`,
    );
    expect(created?.plan.changes.map(({ sentence }) => sentence)).toEqual([
      'table "user" is made',
      'table "post" is made',
    ]);
    expect(await scriptOf(created?.directory as string)).toContain('CREATE TABLE "post"');
    const [folder] = (await readdir(place.directory)).filter((entry) => !entry.endsWith(".toml"));
    expect(await migrations.status()).toEqual({ applied: [], pending: [folder], failed: [], missing: [], drift: [] });
    const steps: unknown[] = [];
    expect(await migrations.deploy({ onProgress: (step) => steps.push(step) })).toEqual({ applied: [folder] });
    expect(steps).toEqual([
      { name: folder, done: 0, total: 1 },
      { name: folder, done: 1, total: 1 },
    ]);
    expect(await migrations.deploy()).toEqual({ applied: [] });
    expect(await migrations.status()).toEqual({ applied: [folder], pending: [], failed: [], missing: [], drift: [] });
    expect(await migrations.create("nothing")).toBeUndefined();
    expect((await migrations.diff()).isEmpty).toBe(true);
  });

  it("lead from the folder to the definitions, for any state of the database", async () => {
    const place = await newPlace();
    await (await at(place, first)).create("first");
    const grown = entity("post", {
      title: string.unique(),
      views: int.default(0),
      lang: string.default("it's; -- en"),
      author: belongsTo(() => user).onDelete("cascade"),
      tags: manyToMany(() => tag),
    }).timestamps(false);
    const tag = entity("tag", { name: string }).timestamps(false);
    const migrations = await at(place, [user, grown, tag]);
    const second = await migrations.create("second");
    expect(second?.plan.changes.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["create-table", "add-column"]),
    );
    expect((await migrations.status()).pending).toHaveLength(2);
    expect((await migrations.deploy()).applied).toHaveLength(2);
    expect(await migrations.status()).toMatchObject({ pending: [], drift: [] });
    await place.rows(`INSERT INTO "user" ("id", "name") VALUES ('u1', 'ann')`);
    await place.rows(`INSERT INTO "post" ("id", "title", "authorId") VALUES ('p1', 'one', 'u1')`);
    expect(await place.rows('SELECT "lang", "views" FROM "post"')).toEqual([{ lang: "it's; -- en", views: 0 }]);
  });

  it("keep values if a column gets a new name, a wider type, or a default", async () => {
    const place = await newPlace();
    const before = await at(place, first);
    await before.create("first");
    await before.deploy();
    await place.rows(`INSERT INTO "user" ("id", "name") VALUES ('u1', 'ann')`);
    await place.rows(`INSERT INTO "post" ("id", "title", "views", "authorId") VALUES ('p1', 'one', 7, 'u1')`);
    const person = entity("person", { name: text }).renamedFrom("user").timestamps(false);
    const article = entity("article", {
      heading: string.renamedFrom("title"),
      views: float.default(0),
      words: int.default(5),
      writer: belongsTo(() => person).renamedFrom("author"),
    })
      .renamedFrom("post")
      .timestamps(false);
    const after = await at(place, [person, article]);
    const created = await after.create("new names");
    expect(created?.plan.changes.every(({ destructive }) => !destructive)).toBe(true);
    expect(created?.plan.changes.map(({ sentence }) => sentence)).toEqual(
      expect.arrayContaining([
        'table "user" is renamed to "person"',
        'table "post" is renamed to "article"',
        'table "article": column "title" is renamed to "heading"',
        'table "article": column "authorId" is renamed to "writerId"',
        'table "article": column "words" is added',
        `table "article": column "views" changes from integer to ${name === "SQLite" ? "real" : "double precision"}`,
      ]),
    );
    await after.deploy();
    expect(await place.rows('SELECT * FROM "article"')).toEqual([
      { id: "p1", heading: "one", views: 7, words: 5, writerId: "u1" },
    ]);
    expect(await place.rows('SELECT * FROM "person"')).toEqual([{ id: "u1", name: "ann" }]);
    expect((await after.diff()).isEmpty).toBe(true);
    expect(await after.create("again")).toBeUndefined();
  });

  it("that lose values need acceptance, list losses first, and are otherwise refused", async () => {
    const place = await newPlace();
    await (await at(place, first)).create("first");
    const shrunk = entity("post", { extra: string.optional(), views: bool }).timestamps(false);
    const migrations = await at(place, [shrunk]);
    const expected = [
      'table "user" is dropped with its rows',
      'table "post": column "views" changes from integer to boolean',
      'table "post": column "title" is dropped with its values; if "extra" is its new name, add .renamedFrom("title") to that field',
      'table "post": column "authorId" is dropped with its values',
    ];
    // Ids have the same type as text in SQLite only.
    const withoutIds = (line: string): string => line.replace(/; if .*"authorId".*$/, "");
    const problems = await problemsOf(migrations.create("shrink"));
    expect(problems.map(withoutIds).sort()).toEqual(
      [...expected, "nothing was written; pass --accept-data-loss to lose these values"].sort(),
    );
    expect(await readdir(place.directory)).toHaveLength(2);
    const created = await migrations.create("shrink", { acceptDataLoss: true });
    const { changes = [] } = created?.plan ?? {};
    expect(changes.slice(0, expected.length).every(({ destructive }) => destructive)).toBe(true);
    expect(changes.slice(expected.length).some(({ destructive }) => destructive)).toBe(false);
    expect(await scriptOf(created?.directory as string)).toMatch(/^\/\*\n {2}Values are lost:\n/);
    await migrations.deploy();
    expect((await migrations.diff()).isEmpty).toBe(true);
  });

  it("are diffed and pushed without a migration, and diffing changes nothing", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    const plan = await migrations.diff();
    expect(plan.sql).toContain('CREATE TABLE "user"');
    expect((await migrations.diff()).changes).toEqual(plan.changes);
    expect((await migrations.push()).changes).toEqual(plan.changes);
    expect((await migrations.diff()).isEmpty).toBe(true);
    expect((await migrations.push()).isEmpty).toBe(true);
    await place.rows(`INSERT INTO "user" ("id", "name") VALUES ('u1', 'ann')`);
    const smaller = await at(place, [entity("user", { handle: string.renamedFrom("name") }).timestamps(false)]);
    const renamed = await smaller.diff();
    expect(renamed.changes.map(({ sentence }) => sentence)).toEqual([
      'table "post" is dropped with its rows',
      'table "user": column "name" is renamed to "handle"',
    ]);
    expect(await place.rows('SELECT "name" FROM "user"')).toEqual([{ name: "ann" }]);
    const gone = await at(place, [entity("user", {}).timestamps(false), post]);
    const problems = await problemsOf(gone.push());
    expect(problems.at(-1)).toContain("--accept-data-loss");
    await gone.push({ acceptDataLoss: true });
    expect(await place.rows('SELECT * FROM "user"')).toEqual([{ id: "u1" }]);
  });

  it("stop at the first failure, roll it back, and continue once it is corrected", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    await migrations.create("first");
    await migrations.deploy();
    await place.rows(`INSERT INTO "user" ("id", "name") VALUES ('u1', 'hunter2-canary'), ('u2', 'hunter2-canary')`);
    const folder = join(place.directory, "29990101000000_by_hand");
    await mkdir(folder);
    const wrong = 'CREATE TABLE "kept" ("id" TEXT);\nCREATE UNIQUE INDEX "user_name_key" ON "user"("name");\n';
    await writeFile(join(folder, "migration.sql"), wrong);
    await mkdir(join(place.directory, "29990101000001_later"));
    await writeFile(
      join(place.directory, "29990101000001_later", "migration.sql"),
      'CREATE TABLE "later" ("id" TEXT);',
    );
    const [problem, ...rest] = await problemsOf(migrations.deploy());
    expect(rest).toEqual([]);
    expect(problem).toMatch(
      /^migration 29990101000000_by_hand.*: rows share a value that it makes unique; nothing of it was kept/,
    );
    expect(problem).not.toContain("canary");
    expect(await migrations.status()).toMatchObject({
      failed: [],
      pending: ["29990101000000_by_hand", "29990101000001_later"],
    });
    await expect(place.rows('SELECT * FROM "kept"')).rejects.toThrow();
    await expect(place.rows('SELECT * FROM "later"')).rejects.toThrow();
    await writeFile(join(folder, "migration.sql"), `UPDATE "user" SET "name" = "id";\n${wrong}`);
    expect((await migrations.deploy()).applied).toEqual(["29990101000000_by_hand", "29990101000001_later"]);
    expect(await place.rows('SELECT "name" FROM "user" ORDER BY "name"')).toEqual([{ name: "u1" }, { name: "u2" }]);
  });

  it("are applied once by processes that deploy at the same time", async () => {
    const place = await newPlace();
    await (await at(place, first)).create("first");
    const several = await Promise.all([1, 2, 3].map(() => at(place, first)));
    const results = await Promise.all(several.map((migrations) => migrations.deploy()));
    expect(results.flatMap(({ applied }) => applied).length).toBeGreaterThanOrEqual(1);
    const table = 'SELECT count(*) AS n FROM "_prisma_migrations"';
    expect(Number((await place.rows(table))[0]?.n)).toBe(1);
  });

  it("that were applied may not change, and missing folders are named", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    const created = await migrations.create("first");
    await migrations.deploy();
    const file = join(created?.directory as string, "migration.sql");
    const script = await readFile(file, "utf8");
    await writeFile(file, script.replaceAll("\n", "\r\n"));
    expect((await migrations.deploy()).applied).toEqual([]);
    await writeFile(file, `${script}\nSELECT 1;`);
    expect((await problemsOf(migrations.deploy()))[0]).toMatch(/_first was changed after it was applied; restore/);
    await rm(created?.directory as string, { recursive: true });
    expect(await migrations.status()).toMatchObject({ pending: [], missing: [basename(created?.directory as string)] });
  });

  it("are recorded without running if the tables fit already, and only then", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    await migrations.push();
    const created = await migrations.create("first");
    expect((await problemsOf(migrations.deploy()))[0]).toMatch(/tables that no migration made.*--baseline/);
    const other = await at(place, [user]);
    expect(await problemsOf(other.deploy({ baseline: true }))).toEqual([
      "only a database that fits the definitions can be a baseline; first run: keelson db push",
      'table "post" is not described by an entity',
    ]);
    expect((await migrations.deploy({ baseline: true })).applied).toHaveLength(1);
    expect(created?.directory).toContain((await migrations.status()).applied[0]);
    expect(await migrations.deploy()).toEqual({ applied: [] });
  });

  it("half applied by Prisma's own command wait until they are resolved", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    const created = await migrations.create("first");
    await migrations.deploy();
    const folder = created?.directory.split("/").at(-1) as string;
    await place.rows('UPDATE "_prisma_migrations" SET "finished_at" = NULL');
    expect((await migrations.status()).failed).toEqual([folder]);
    expect((await problemsOf(migrations.deploy()))[0]).toContain(`keelson migrate resolve ${folder} --as applied`);
    await migrations.resolve(folder, "applied");
    expect(await migrations.status()).toMatchObject({ failed: [], applied: [folder], pending: [] });
    expect((await problemsOf(migrations.resolve(folder, "applied")))[0]).toContain("has not failed");
    await place.rows('UPDATE "_prisma_migrations" SET "finished_at" = NULL');
    await migrations.resolve(folder, "rolled-back");
    expect((await migrations.status()).pending).toEqual([folder]);
  });

  it("are for one kind of database", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    await migrations.create("first");
    await writeFile(join(place.directory, "migration_lock.toml"), 'provider = "mysql"\n');
    expect((await problemsOf(migrations.status()))[0]).toMatch(/are for mysql, not for (sqlite|postgresql)/);
  });

  it("need a script in every folder, and a valid name", async () => {
    const place = await newPlace();
    const migrations = await at(place, first);
    expect((await problemsOf(migrations.create("  !! ")))[0]).toContain("letters and digits");
    await mkdir(join(place.directory, "20200101000000_empty"), { recursive: true });
    expect((await problemsOf(migrations.deploy()))[0]).toMatch(/has no migration\.sql/);
  });

  it("that do not follow each other are named before another one is written", async () => {
    const place = await newPlace();
    await mkdir(join(place.directory, "20200101000000_broken"), { recursive: true });
    await writeFile(join(place.directory, "20200101000000_broken", "migration.sql"), "\nDROP TABLE absent;\n");
    const [problem] = await problemsOf((await at(place, first)).create("first"));
    expect(problem).toMatch(/20200101000000_broken.*: something that it changes does not exist; it does not run after/);
  });
});

describe("a migration of PostgreSQL", () => {
  it("may have one statement outside a transaction, and refuses more", async () => {
    const place = await openPostgresPlace();
    const migrations = await place.open(first);
    await migrations.create("first");
    await migrations.deploy();
    const folder = join(place.directory, "29990101000000_index");
    await mkdir(folder);
    const script = 'CREATE INDEX CONCURRENTLY "by_hand" ON "post"("title")';
    await writeFile(join(folder, "migration.sql"), `${script}; SELECT 1;`);
    await expect(migrations.deploy()).rejects.toThrow(
      /only runs on its own; give that statement a migration of its own/,
    );
    expect(await migrations.status()).toMatchObject({ failed: [], pending: ["29990101000000_index"] });
    await writeFile(join(folder, "migration.sql"), script);
    expect((await migrations.deploy()).applied).toEqual(["29990101000000_index"]);
    await place.drop();
  });

  it("that fails outside a transaction waits to be resolved", async () => {
    const place = await openPostgresPlace();
    const migrations = await place.open(first);
    await migrations.create("first");
    await migrations.deploy();
    await place.rows(`INSERT INTO "user" ("id", "name") VALUES ('u1', 'ann'), ('u2', 'ann')`);
    const name = "29990101000000_index";
    await mkdir(join(place.directory, name));
    const script = 'CREATE UNIQUE INDEX CONCURRENTLY "by_hand" ON "user"("name")';
    await writeFile(join(place.directory, name, "migration.sql"), script);
    await expect(migrations.deploy()).rejects.toThrow(/what ran before stays; look at the database, then run: keelson/);
    expect((await migrations.status()).failed).toEqual([name]);
    await migrations.resolve(name, "rolled-back");
    expect((await migrations.status()).pending).toEqual([name]);
    await place.drop();
  });

  it("needs a reachable server, and an existing database and user", async () => {
    const place = await openPostgresPlace();
    const missing = new URL(place.target.url);
    missing.pathname = "/keelson_nothing_of_this_name";
    const at = (url: string) => openMigrations({ entities: first, target: { provider: "postgresql", url } });
    await expect((await at(missing.href)).diff()).rejects.toThrow(/no such database; create it first/);
    const closed = await at("postgresql://nobody@127.0.0.1:1/nothing");
    await expect(closed.status()).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await place.drop();
  });
});

describe("a migration of MySQL", () => {
  it("is left to Prisma's own command, which each method names", async () => {
    const target = { provider: "mysql", url: "mysql://root@127.0.0.1:3306/nothing" } as const;
    const migrations = await openMigrations({ entities: first, target });
    const calls = {
      "db push": migrations.push(),
      "migrate diff": migrations.diff(),
      "migrate status": migrations.status(),
      "migrate dev": migrations.create("first"),
      "migrate deploy": migrations.deploy(),
      "migrate resolve": migrations.resolve("first", "applied"),
    };
    for (const [command, call] of Object.entries(calls))
      await expect(call).rejects.toThrow(`then run: npx prisma ${command}`);
    await migrations.close();
  });
});

describe("migrations", () => {
  it("need valid definitions, and the URL of a file on SQLite", async () => {
    const target = { provider: "sqlite", url: "file:unused.db" } as const;
    await expect(openMigrations({ entities: [post], target })).rejects.toThrow(/"user" is not part of this app/);
    const wrong = { provider: "sqlite", url: "app.db" } as const;
    await expect(openMigrations({ entities: first, target: wrong })).rejects.toThrow(/begins with "file:"/);
  });
});
