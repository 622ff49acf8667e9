import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { datetime, entity, int, time } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import { askMysql } from "../support/mysql-server.ts";
import type { SqlDatabase, TestDatabase } from "../support/sql-databases.ts";

const reading = entity("reading", { at: datetime, clock: time })
  .id(int, { from: "caller" })
  .timestamps(false)
  .existing()
  .rules({ create: ["everyone"], read: ["everyone"], update: ["everyone"] });

const DATABASES = everyDatabase([reading], 0).filter(([name]) => name !== "memory");
const TABLES: Readonly<Record<string, string>> = {
  SQLite: "create table reading (id integer primary key, at datetime not null, clock text not null)",
  PostgreSQL: "create table reading (id integer primary key, at timestamptz not null, clock time(6) not null)",
  MariaDB: "alter table reading modify at datetime(6) not null, modify clock time(6) not null",
};
/** Three of them are in the same millisecond, the precision that is read. */
const FRACTIONS = [".123900", ".123001", ".124000", ".123456", ".122999", ""];

describe.each(DATABASES)("datetimes with more digits than Keelson reads, on %s", (name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<[typeof reading]>>;

  beforeAll(async () => {
    database = await open();
    const run = async (statement: string): Promise<void> => {
      if (name.startsWith("MariaDB")) await askMysql(database.url as string, [statement]);
      else await (database as SqlDatabase).rows(statement);
    };
    await run(TABLES[name.split(" ")[0] as string] as string);
    const rows = FRACTIONS.map((rest, id) => `(${id}, '2024-05-31 10:00:00${rest}', '10:00:00${rest}')`);
    await run(`insert into reading (id, at, clock) values ${rows.join(", ")}`);
    app = createTestApp({ entities: [reading], driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const list = async (query: string) => {
    const { status, body, headers } = await app.as({ id: "ann" }).request("GET", `/api/readings?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return { ids: (body as { id: number }[]).map(({ id }) => id), next: headers.get("x-next-cursor"), body };
  };

  it.each([
    ["at", "2024-05-31T10:00:00.123Z"],
    ["clock", "10:00:00.123"],
  ])("are compared with the precision that is read: %s", async (field, value) => {
    const found = async (operator: string) => (await list(`${field}${operator}=${value}&_sort=id`)).ids;
    expect(await found("")).toEqual([0, 1, 3]);
    expect(await found("_in")).toEqual([0, 1, 3]);
    expect(await found("_ne")).toEqual([2, 4, 5]);
    expect(await found("_gt")).toEqual([2]);
    expect(await found("_gte")).toEqual([0, 1, 2, 3]);
    expect(await found("_lt")).toEqual([4, 5]);
    expect(await found("_lte")).toEqual([0, 1, 3, 4, 5]);
  });

  it.each(["at", "-at", "clock", "-clock"])("lose no record and repeat none between pages: %s", async (sort) => {
    const ids: number[] = [];
    for (let after = ""; ; ) {
      const page = await list(`_sort=${sort}&_limit=2${after}`);
      ids.push(...page.ids);
      if (page.next === null) break;
      after = `&_after=${page.next}`;
    }
    // 0, 1 and 3 are read as the same datetime, and sort by their unread digits.
    expect(new Set(ids).size).toBe(6);
    const order = ids.map((id) => ([0, 1, 3].includes(id) ? "same" : id));
    expect(sort.startsWith("-") ? order : order.reverse()).toEqual([2, "same", "same", "same", 4, 5]);
  });

  it("are one group if they are read as the same", async () => {
    const { status, body } = await app
      .as({ id: "ann" })
      .request("GET", "/api/readings/aggregate?group=at&count=true&_sort=at");
    expect(status).toBe(200);
    expect((body as { count: number }[]).map(({ count }) => count)).toEqual([1, 1, 3, 1]);
  });
});
