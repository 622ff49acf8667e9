import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type CommandBefore, PreparedQuery } from "../../../src/drivers/sql/fast/prepared-query.ts";
import { type Driver, entity, postgres, string } from "../../../src/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres } from "../../support/databases.ts";

type Answer = { readonly rows: unknown[][]; readonly count: number };

const BEGIN: CommandBefore = { text: "BEGIN", timeout: 1_000 };

describe("a prepared query", () => {
  let database: Awaited<ReturnType<typeof freshPostgres>>;
  let client: pg.Client;

  beforeAll(async () => {
    database = await freshPostgres();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const ask = (
    name: string | undefined,
    text: string,
    values: readonly unknown[],
    before?: CommandBefore,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const query = new PreparedQuery(name, text, values, before);
      query.callback = (error, result) => (error === null ? resolve(result as Answer) : reject(error));
      client.query(query);
    });

  it("is parsed and described once per connection, and returns texts and Booleans", async () => {
    const { connection } = client;
    const [parse, describe] = [vi.spyOn(connection, "parse"), vi.spyOn(connection, "describe")];
    const text = "select $1::text, $2::int, $3::boolean, null, $4::text[]";
    for (const flag of [true, false])
      expect(await ask("first", text, ["a'b", 7, flag, ['x"', null]])).toEqual({
        rows: [["a'b", "7", flag, null, '{"x\\"",NULL}']],
        count: 1,
      });
    expect(parse).toHaveBeenCalledTimes(1);
    expect(describe).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
  });

  it("works after a failed run, and next to the library's query of the same name", async () => {
    const text = "select 10 / $1::int";
    await expect(ask("division", text, [0])).rejects.toMatchObject({ code: "22012" });
    expect(await ask("division", text, [5])).toMatchObject({ rows: [["2"]] });
    const own = await client.query({ name: "division", text, values: [2], rowMode: "array" });
    expect(own.rows).toEqual([[5]]);
    expect(await ask("division", text, [10])).toMatchObject({ rows: [["1"]] });
  });

  it("sends a preceding command with it, and counts the statement's rows", async () => {
    await client.query("create table thing (id int primary key)");
    const text = "insert into thing select generate_series(1, $1::int)";
    expect(await ask(undefined, text, [3], BEGIN)).toEqual({ rows: [], count: 3 });
    await client.query("ROLLBACK");
    expect((await client.query("select * from thing")).rows).toEqual([]);
    await expect(ask("failing", "select 1 / $1::int", [0], BEGIN)).rejects.toMatchObject({ code: "22012" });
    await expect(ask(undefined, "select true", [])).rejects.toMatchObject({ code: "25P02" }); // in the transaction
    await client.query("ROLLBACK");
    expect(await ask(undefined, "select true", [])).toEqual({ rows: [[true]], count: 1 });
  });
});

describe("a transaction on a pool", () => {
  const note = entity("note", { text: string.unique() }).timestamps(false).build();
  let database: Awaited<ReturnType<typeof freshPostgres>>;
  let driver: Driver;

  beforeAll(async () => {
    database = await freshPostgres();
    driver = await connectDriver(postgres(database.url, { poolSize: 1 }), [note]);
  });
  afterAll(async () => {
    await driver.disconnect();
    await database.drop();
  });

  /** What the driver sends while some work runs. */
  async function sentBy(work: () => Promise<unknown>): Promise<string[]> {
    const query = vi.spyOn(pg.Client.prototype, "query");
    try {
      await work();
      return query.mock.calls.map(
        ([sent]) => (sent as unknown as { readonly text: string }).text.split(" ")[0] as string,
      );
    } finally {
      query.mockRestore();
    }
  }

  it("begins with its first statement, and sends nothing without one", async () => {
    const work = () => driver.transaction((inner) => inner.create("note", { id: "a", text: "a" }));
    expect(await sentBy(work)).toEqual(["insert", "COMMIT"]);
    expect(await sentBy(() => driver.transaction(async () => {}))).toEqual([]);
    expect(await driver.count("note")).toBe(1);
  });

  it("rolls back its writes, and releases its connection", async () => {
    const work = driver.transaction(async (inner) => {
      await inner.create("note", { id: "b", text: "b" });
      await inner.create("note", { id: "c", text: "a" });
    });
    await expect(work).rejects.toMatchObject({ code: "CONFLICT", fields: ["text"] });
    const failsFirst = driver.transaction((inner) => inner.create("note", { id: "d", text: "a" }));
    await expect(failsFirst).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await driver.findMany("note", { select: ["id"] })).toEqual([{ id: "a" }]);
  });

  it("survives a connection that breaks between two statements", async () => {
    const work = driver.transaction(async (inner) => {
      await inner.count("note");
      const admin = new pg.Client({ connectionString: database.url });
      await admin.connect();
      const own = "datname = current_database() and pid <> pg_backend_pid()";
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${own}`);
      await admin.end();
      await inner.create("note", { id: "e", text: "e" });
    });
    await expect(work).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    expect(await driver.count("note")).toBe(1);
  });
});
