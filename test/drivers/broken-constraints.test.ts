import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, type Driver, entity, hasMany, importAction, int, string } from "../../src/index.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { connectDriver } from "../support/connect-driver.ts";
import { everyWay } from "../support/every-database.ts";
import { askMysql } from "../support/mysql-server.ts";
import { SQL_DATABASES, type SqlDatabase, type TestDatabase } from "../support/sql-databases.ts";

// Tables that others have created, whose constraints have names of their own.

const TABLES = [
  `create table people (id varchar(20) primary key, name varchar(20) not null)`,
  `create table notes (id varchar(20) primary key, body varchar(20) not null, "written by" varchar(20) not null,
     reader varchar(20), "proof (1)" varchar(20), rank integer,
     constraint by_a_person foreign key ("written by") references people (id),
     constraint for_a_person foreign key (reader) references people (id) on delete set null,
     constraint odd_column foreign key ("proof (1)") references people (id),
     constraint from_one check (rank > 0), constraint kept check (reader is not null or body <> 'kept'))`,
  `create table lines (id varchar(20) primary key, body varchar(20) not null, note varchar(20) not null,
     constraint of_a_note foreign key (note) references notes (id))`,
];

const everyone = ["everyone"] as const;
const person = entity("person", { name: string })
  .id(string)
  .table("people")
  .timestamps(false)
  .existing()
  .rules({ read: everyone });
const note = entity("note", {
  body: string,
  rank: int.optional(),
  proof: string.optional().column("proof (1)"),
  writer: belongsTo(() => person).column("written by"),
  reader: belongsTo(() => person)
    .optional()
    .column("reader"),
  lines: hasMany(() => line),
})
  .id(string)
  .table("notes")
  .timestamps(false)
  .existing()
  .actions({ import: importAction() })
  .ownedBy("writer")
  .rules({ read: everyone, create: ["authenticated"], update: everyone });
const line = entity("line", { body: string, note: belongsTo(() => note).column("note") })
  .id(string)
  .table("lines")
  .timestamps(false)
  .existing()
  .rules({ read: everyone, create: everyone });

const opened = (driver: Driver) => createTestApp({ entities: [person, note, line], plugins: [idempotency()], driver });

describe.each(SQL_DATABASES)("constraints of existing tables, on %s", (_name, open) => {
  let database: SqlDatabase;
  let app: ReturnType<typeof opened>;
  beforeAll(async () => {
    database = await open();
    for (const table of TABLES) await database.rows(table);
    await database.rows(`insert into people values ('ann', 'Ann')`);
    app = opened(database.driver);
    await app.api.ready;
  });
  beforeEach(async () => {
    await database.rows(`delete from lines`);
    await database.rows(`delete from notes`);
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  // The owner of a new record is the caller, who has no record here.
  const ghost = () => app.as({ id: "ghost-of-no-record" });
  const ann = () => app.as({ id: "ann" });
  const plain = { id: "n", body: "x" };
  const nested = { ...plain, lines: { create: [{ id: "l", body: "x" }] } };

  it.each([
    ["alone", "/api/notes", plain, {}, "writerId"],
    ["with an include", "/api/notes?include=writer", plain, {}, "writerId"],
    ["with nested records", "/api/notes", nested, {}, "writerId"],
    ["with a key", "/api/notes", plain, { "idempotency-key": "k" }, "writerId"],
    ["in a batch", "/api/batch", [{ method: "POST", path: "/notes", body: plain }], {}, "writerId"],
  ])("refuse a reference that leads to no record: %s", async (_what, path, data, headers, field) => {
    const { status, body } = await ghost().request("POST", path, data, headers);
    expect([status, (body as { errors?: unknown }).errors]).toEqual([
      400,
      { [field]: "must refer to an existing record" },
    ]);
    expect(JSON.stringify(body)).not.toContain("ghost-of");
    expect(await app.api.driver.count("note")).toBe(0);
  });

  it("refuse the row of an import with such a reference", async () => {
    const rows = [plain, { id: "m", body: "y", proof: "none" }];
    const some = await ann().request("POST", "/api/notes/import", rows);
    const failed = [{ row: 2, errors: { _: "a reference leads to no record" } }];
    expect([some.status, some.body]).toMatchObject([200, { created: 1, failed }]);
    const { status, body } = await ghost().request("POST", "/api/notes/import", [{ id: "o", body: "z" }]);
    const errors = { writerId: "must refer to an existing record" };
    expect([status, body]).toMatchObject([200, { created: 0, failed: [{ row: 1, errors }] }]);
  });

  it("refuse a reference of a column that is no relation in the app, without a name", async () => {
    const { status, body } = await ann().request("POST", "/api/notes", { ...nested, proof: "none" });
    expect([status, (body as { errors?: unknown }).errors]).toEqual([400, { _: "a reference leads to no record" }]);
  });

  it("refuse values that a check does not accept", async () => {
    const { status, body } = await ann().request("POST", "/api/notes", { ...plain, rank: -7 });
    const errors = { _: "the database does not accept these values" };
    expect([status, (body as { errors?: unknown }).errors]).toEqual([400, errors]);
    expect(JSON.stringify({ ...(body as object), requestId: "" })).not.toMatch(/-7|from_one|check/i);
    const rows = [plain, { id: "m", body: "y", rank: 0 }];
    const imported = await ann().request("POST", "/api/notes/import", rows);
    expect(imported.body).toMatchObject({ created: 1, failed: [{ row: 2, errors }] });
  });

  it("refuse to delete a record if that would break a check of another: 409", async () => {
    await database.rows(`insert into people values ('bob', 'Bob')`);
    await database.rows(`insert into notes (id, body, "written by", reader) values ('k', 'kept', 'ann', 'bob')`);
    const failure = await app.api.driver.delete("person", { id: "bob" }).catch((error: Error) => error);
    expect(failure).toMatchObject({ status: 409, code: "REFERENCED" });
  });

  it("are named in the cause, without values, if a check fails", async () => {
    const row = { id: "n", body: "secret", writerId: "ann", rank: -7 };
    const failure = await app.api.driver.create("note", row).catch((error: Error) => error);
    const { message } = (failure as Error).cause as Error;
    expect(message).toContain("from_one");
    expect(message).not.toMatch(/secret|-7/);
  });
});

const shelf = entity("shelf", { items: hasMany(() => item) })
  .id(string)
  .timestamps(false)
  .rules({ read: everyone, create: everyone, update: everyone });
const item = entity("item", { level: int, shelf: belongsTo(() => shelf) })
  .id(string)
  .timestamps(false)
  .rules({ read: everyone, create: everyone });

const SERVERS = everyWay([shelf, item], 0).filter(([name]) => /^(PostgreSQL|MariaDB)/.test(name));
describe.each(SERVERS)("changed constraints, on %s", (name, open) => {
  let database: TestDatabase;
  let driver: Driver;
  const ask = async (statement: string): Promise<void> => {
    const url = database.url as string;
    if (!url.startsWith("postgres")) return void (await askMysql(url, [statement]));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  beforeAll(async () => {
    database = await open();
    driver = await connectDriver(database.driver, [shelf, item]);
    await ask("alter table item add constraint from_one check (level > 0)");
    if (name.startsWith("PostgreSQL")) await ask(`alter table item rename constraint "item_shelfId_fkey" to odd`);
    await driver.create("shelf", { id: "s" });
  });
  afterAll(async () => {
    await driver?.disconnect();
    await database?.drop();
  });

  it("refuse values that a check does not accept: 400, with its name in the cause", async () => {
    const failure = await driver.create("item", { id: "i", level: -7, shelfId: "s" }).catch((error: Error) => error);
    expect(failure).toMatchObject({ status: 400, errors: { _: "the database does not accept these values" } });
    const { message } = (failure as Error).cause as Error;
    expect(message).toContain("from_one");
    expect(message).not.toContain("-7");
  });

  if (name.startsWith("PostgreSQL"))
    it("keep the sentence of a trigger out of the cause", async () => {
      await ask(`create function refuse() returns trigger language plpgsql as $$ begin
      raise exception 'not %', new.level using errcode = '23514'; end $$`);
      await ask(
        "create trigger refuse before insert on item for each row when (new.level = 4711) execute function refuse()",
      );
      const row = { id: "i", level: 4711, shelfId: "s" };
      const failure = await driver.create("item", row).catch((error: Error) => error);
      expect(failure).toMatchObject({ status: 400 });
      expect(String((failure as Error).cause)).not.toContain("4711");
    });

  it("refuse a reference that leads to no record in a transaction: 400", async () => {
    const row = { id: "i", level: 1, shelfId: "none" };
    const failure = await driver.transaction((tx) => tx.create("item", row)).catch((error: Error) => error);
    expect(failure).toMatchObject({ status: 400, code: "VALIDATION_FAILED" });
    expect(JSON.stringify(failure)).not.toContain("none");
  });
});
