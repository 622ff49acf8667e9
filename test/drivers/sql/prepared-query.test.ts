import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { PreparedQuery } from "../../../src/drivers/sql/fast/prepared-query.ts";
import { freshPostgres } from "../../support/databases.ts";

type Answer = { readonly rows: unknown[][] };

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

  const ask = (name: string, text: string, values: readonly unknown[]): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const query = new PreparedQuery(name, text, values);
      query.callback = (error, result) => (error === null ? resolve(result as Answer) : reject(error));
      client.query(query);
    });

  it("is parsed and described once per connection, and gives texts and Booleans", async () => {
    const { connection } = client;
    const [parse, describe] = [vi.spyOn(connection, "parse"), vi.spyOn(connection, "describe")];
    const text = "select $1::text, $2::int, $3::boolean, null, $4::text[]";
    for (const flag of [true, false])
      expect(await ask("first", text, ["a'b", 7, flag, ['x"', null]])).toEqual({
        rows: [["a'b", "7", flag, null, '{"x\\"",NULL}']],
      });
    expect(parse).toHaveBeenCalledTimes(1);
    expect(describe).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
  });

  it("works again after a run that failed, and next to a query of the library with the same name", async () => {
    const text = "select 10 / $1::int";
    await expect(ask("division", text, [0])).rejects.toMatchObject({ code: "22012" });
    expect(await ask("division", text, [5])).toEqual({ rows: [["2"]] });
    const own = await client.query({ name: "division", text, values: [2], rowMode: "array" });
    expect(own.rows).toEqual([[5]]);
    expect(await ask("division", text, [10])).toEqual({ rows: [["1"]] });
  });
});
