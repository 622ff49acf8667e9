import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  date,
  datetime,
  decimal,
  defineRule,
  entity,
  enums,
  exportAction,
  float,
  int,
  string,
  time,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import { askMysql } from "../support/mysql-server.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

const rules = { create: ["everyone"], read: ["everyone"], update: ["everyone"] };
const sample = entity("sample", {
  word: string,
  open: decimal().optional(),
  exact: decimal(8, 2).optional(),
  half: float.optional(),
  at: datetime.optional(),
  zoned: datetime.optional(),
  day: date.optional(),
  clock: time.optional(),
})
  .id(int)
  .timestamps(false)
  .existing()
  .rules(rules)
  .actions({ export: exportAction });

/** Rows that PostgreSQL accepts and that the API's input could not create. */
const ROWS = [
  `('a', 1, 1, 1, '2024-01-01', '2024-01-01', '2024-01-01', '10:00')`,
  `('b', 'NaN', 'NaN', 'NaN', 'infinity', 'infinity', 'infinity', '24:00')`,
  `('c', 'Infinity', 2, 'Infinity', '-infinity', '-infinity', '-infinity', '00:00')`,
  `('d', null, null, null, null, null, null, null)`,
  `('e', '-Infinity', 5, '-Infinity', '9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999+00', '9999-12-31', '23:59:59.999')`,
  `('f', 2, 3, 2, '0044-03-15 12:00:00 BC', '0044-03-15 12:00:00+00 BC', '0044-03-15 BC', '23:59:59.9999')`,
  `('g', 'NaN', 'NaN', 'NaN', '12024-01-01 10:00:00', '12024-01-01 10:00:00+00', '12024-01-01', '24:00')`,
  `('h', 'NaN', 'NaN', 'NaN', 'infinity', 'infinity', 'infinity', '24:00')`,
];
const FIRST = "0001-01-01T00:00:00.000Z";
const LAST = "9999-12-31T23:59:59.999Z";

interface Shown {
  readonly [name: string]: unknown;
}

describe.each(SQL_DATABASES.filter(([name]) => name === "PostgreSQL"))(
  "values of existing tables outside the API's input range, on %s",
  (_, open) => {
    let database: SqlDatabase;
    let app: ReturnType<typeof createTestApp<[typeof sample]>>;

    beforeAll(async () => {
      database = await open();
      await database.rows(
        "create table sample (id serial primary key, word text not null, open numeric, exact numeric(8,2), half double precision, at timestamp, zoned timestamptz, day date, clock time)",
      );
      await database.rows(
        `insert into sample (word, open, exact, half, at, zoned, day, clock) values ${ROWS.join(", ")}`,
      );
      app = createTestApp({ entities: [sample], driver: database.driver });
      await app.api.ready;
    });
    afterAll(async () => {
      await app?.close();
      await database?.drop();
    });
    const ask = async (path: string) => {
      const { status, body, headers } = await app.as(null).request("GET", `/api/samples${path}`);
      return { status, list: body as Shown[], next: headers.get("x-next-cursor"), body };
    };
    const words = async (query: string) => {
      const { status, list, body } = await ask(`?${query}&_limit=20`);
      expect(status, JSON.stringify(body)).toBe(200);
      return list.map(({ word }) => word).join("");
    };

    it("are shown: numbers by their names, dates and datetimes as the first or last", async () => {
      const { list } = await ask("?_sort=id");
      expect(list[1]).toEqual({
        ...{ id: 2, word: "b", open: "NaN", exact: "NaN", half: null },
        ...{ at: LAST, zoned: LAST, day: "9999-12-31", clock: "24:00:00" },
      });
      expect(list[2]).toMatchObject({ open: "Infinity", half: null, at: FIRST, zoned: FIRST, day: "0001-01-01" });
      expect(list[5]).toMatchObject({ at: FIRST, zoned: FIRST, day: "0001-01-01" });
      expect(list[6]).toMatchObject({ at: LAST, zoned: LAST, day: "9999-12-31" });
      const record = await app.api.asSystem().sample.get("2");
      expect(record).toMatchObject({ half: Number.NaN, at: new Date(LAST) });
    });

    it.each([
      ["open", "deafcbgh"],
      ["exact", "dacfebgh"],
      ["half", "deafcbgh"],
      ["at", "dcfaegbh"],
      ["zoned", "dcfaegbh"],
      ["day", "dcfaegbh"],
      ["clock", "dcaefbgh"],
    ])("lose no record and repeat none between pages, in the order of %s", async (field, expected) => {
      for (const [sort, order] of [
        [`${field},word`, expected],
        [`-${field},-word`, [...expected].reverse().join("")],
      ] as const) {
        expect(await pageByPage(app, `samples?_sort=${sort}`)).toBe(order);
      }
    });

    it.each([
      [`at=${LAST}`, "begh"],
      [`at_in=${LAST},2024-01-01`, "abegh"],
      [`at_ne=${LAST}`, "acdf"],
      [`at_gte=${LAST}`, "begh"],
      [`at_gt=${LAST}`, ""],
      [`at_lte=${LAST}`, "abcefgh"],
      [`at_lt=${LAST}`, "acf"],
      [`zoned=${FIRST}`, "cf"],
      [`zoned_lt=${FIRST}`, ""],
      [`zoned_gte=${FIRST}`, "abcefgh"],
      [`zoned_lte=${FIRST}`, "cf"],
      ["day=9999-12-31", "begh"],
      ["day=2024-01-01", "a"],
      ["day_gt=9999-12-31", ""],
      ["day_gt=9999-12-30", "begh"],
      ["day_lte=9999-12-31", "abcefgh"],
      ["day_lt=0001-01-01", ""],
      ["day_in=0001-01-01,2024-01-01", "acf"],
      ["open_gt=1", "bcfgh"],
      ["half_lt=1", "e"],
      ["clock_gt=23:59:59.999", "bgh"],
    ])("are found by their shown value: %s", async (query, expected) => {
      expect(await words(`${query}&_sort=word`)).toBe(expected);
    });

    it("do not stop sums, groups and exports", async () => {
      const measures = "sum=open,exact,half&avg=open&min=open,at,day&max=open,at,day,clock";
      const { status, body } = await ask(`/aggregate?${measures}`);
      expect([status, body]).toEqual([
        200,
        [
          {
            sum: { open: "NaN", exact: "NaN", half: null },
            avg: { open: "NaN" },
            min: { open: "-Infinity", at: FIRST, day: "0001-01-01" },
            max: { open: "NaN", at: LAST, day: "9999-12-31", clock: "24:00:00" },
          },
        ],
      ]);
      for (const group of ["open", "half", "at", "day", "clock", "month(at)", "year(day)", "day(zoned)"])
        expect([group, (await ask(`/aggregate?group=${group}&count&_zone=Europe/Berlin`)).status]).toEqual([
          group,
          200,
        ]);
      for (const format of ["csv", "json"]) expect((await ask(`/export?format=${format}&_sort=-at`)).status).toBe(200);
    });

    it("are refused as input", async () => {
      for (const data of [{ open: "NaN" }, { exact: "Infinity" }, { at: "infinity" }, { clock: "24:00" }])
        expect((await app.as(null).request("PATCH", "/api/samples/1", data)).status).toBe(400);
      expect((await ask("?open=NaN")).status).toBe(400);
    });
  },
);

const odd = entity("odd", {
  word: string,
  at: datetime.optional(),
  day: date.optional(),
  clock: time.optional(),
  half: float.optional(),
  whole: int.optional(),
  price: decimal(8, 2).optional(),
})
  .id(int)
  .timestamps(false)
  .existing()
  .rules(rules);

const ODD: Readonly<
  Record<string, { table: string; rows: readonly string[]; orders: Readonly<Record<string, string>> }>
> = {
  SQLite: {
    table:
      "create table odd (id integer primary key, word text not null, at datetime, day date, clock time, half real, whole integer, price decimal(8,2))",
    rows: [
      "('a', '2024-01-01', '2024-01-01', '10:00', 1, 1, 1)",
      "('b', '', '', '', '', '', '')",
      "('c', 'tomorrow', 'x', 'y', 9e999, 'z', 9e999)",
      "('d', '0000-00-00 00:00:00', '0000-00-00', '10:00:00.5', -9e999, 3, 'x')",
      "('e', null, null, null, null, null, null)",
    ],
    // Texts sort after numbers there; texts that are not datetimes are read as null.
    orders: { at: "bceda", day: "ebdac", clock: "ebadc", half: "edacb", whole: "eadbc", price: "eacbd" },
  },
  MariaDB: {
    table:
      "create or replace table odd (id int auto_increment primary key, word varchar(9) not null, at datetime(6), day date, clock time(6), half double, whole int, price decimal(8,2)) collate utf8mb4_nopad_bin",
    rows: [
      "('a', '2024-01-01', '2024-01-01', '10:00', 1, 1, 1)",
      "('b', '0000-00-00', '0000-00-00', '838:59:59', null, null, null)",
      "('c', '9999-12-31 23:59:59.9999', '9999-12-31', '-10:00:00', null, null, null)",
      "('d', null, null, null, null, null, null)",
    ],
    orders: { at: "dbac", day: "dbac", clock: "dcab" },
  },
};

describe.each(everyDatabase([odd], 0).filter(([name]) => name === "SQLite" || name === "MariaDB"))(
  "odd values of existing tables, on %s",
  (name, open) => {
    it("are listed, and lose no record between pages", async () => {
      const database = await open();
      onTestFinished(() => database.drop());
      const { table, rows, orders } = ODD[name] as (typeof ODD)[string];
      const insert = `insert into odd (word, at, day, clock, half, whole, price) values ${rows.join(", ")}`;
      for (const statement of [table, insert])
        await (name === "SQLite"
          ? (database as SqlDatabase).rows(statement)
          : askMysql(database.url as string, [statement]));
      const app = createTestApp({ entities: [odd], driver: database.driver });
      onTestFinished(() => app.close());
      await app.api.ready;
      for (const [field, order] of Object.entries(orders))
        for (const [sort, expected] of [
          [`${field},word`, order],
          [`-${field},-word`, [...order].reverse().join("")],
        ])
          expect([sort, await pageByPage(app, `odds?_sort=${sort}`)]).toEqual([sort, expected]);
    });
  },
);

describe.each(SQL_DATABASES.filter(([name]) => name === "PostgreSQL"))(
  "cursors of existing tables, on %s",
  (_, open) => {
    const reading = entity("reading", { word: string, at: datetime, state: enums("open", "done").native("state") })
      .id(int)
      .timestamps(false)
      .existing()
      .rules({ read: [defineRule("vbkShown", () => ({ word: { ne: "secret" } }))] });
    let database: SqlDatabase;
    let app: ReturnType<typeof createTestApp<[typeof reading]>>;
    beforeAll(async () => {
      database = await open();
      await database.rows("create type state as enum ('new', 'open', 'done', 'gone')");
      await database.rows(
        "create table reading (id serial primary key, word text not null, at timestamp not null, state state not null)",
      );
      await database.rows(
        `insert into reading (word, at, state) values ('a', '2024-01-01 10:00:00.0001', 'open'), ('secret', '2024-01-01 10:00:00.0005', 'open'),
        ('b', '2024-01-01 10:00:00.0009', 'new'), ('c', '2024-01-02', 'gone'), ('d', '2024-01-03', 'done')`,
      );
      app = createTestApp({ entities: [reading], driver: database.driver });
      await app.api.ready;
    });
    afterAll(async () => {
      await app?.close();
      await database?.drop();
    });

    it("continue after values that only the database knows, which come first", async () => {
      expect(await pageByPage(app, "readings?_sort=state,word")).toBe("bcad");
      expect(await pageByPage(app, "readings?_sort=-state,-word")).toBe("dacb");
    });

    it("reveal nothing of a record that the caller may not read, however they are made", async () => {
      const pageAfter = async (values: unknown[]) => {
        const cursor = Buffer.from(JSON.stringify(["at,id", ...values])).toString("base64url");
        const { status, body } = await app.as(null).request("GET", `/api/readings?_sort=at&_after=${cursor}`);
        return { status, words: (body as { word: string }[]).map?.(({ word }) => word).join("") };
      };
      // The hidden record sorts between a and b, in the same millisecond; a cursor to it matches no visible record.
      expect(await pageAfter(["2024-01-01T10:00:00.000Z", "2"])).toEqual(
        await pageAfter(["2024-01-01T10:00:00.000Z", "99"]),
      );
      expect((await pageAfter(["2024-01-01T10:00:00.000Z", "1"])).words).toBe("bcd");
      expect(await pageAfter([{}, "2"])).toEqual({ status: 200, words: "" });
      expect((await pageAfter(["2024-01-01T10:00:00.000Z", {}])).status).toBe(400);
    });
  },
);

/** The values of all pages of one record each. */
async function pageByPage(
  app: { as(user: null): { request(method: string, path: string): Promise<unknown> } },
  path: string,
) {
  const words: unknown[] = [];
  for (let after = ""; words.length < 20; ) {
    const { status, body, headers } = (await app.as(null).request("GET", `/api/${path}&_limit=1${after}`)) as {
      status: number;
      body: Shown[];
      headers: Headers;
    };
    expect(status, JSON.stringify(body)).toBe(200);
    words.push(...body.map(({ word }) => word));
    const next = headers.get("x-next-cursor");
    if (next === null) break;
    after = `&_after=${next}`;
  }
  return words.join("");
}
