/** The databases that the schemas are written for. */
export type Database = "SQLite" | "PostgreSQL" | "MariaDB";

const WORDS = ["a", "A", "b", "B ", "Ärger", "it's", "", "100%", "a_b", "null", "0012", "ß", "Zoe", "zoe"];
const DAYS = ["1999-12-31", "2024-02-29", "2024-03-01", "2025-01-01"];
/** Datetimes as other programs write them: they also differ below the millisecond. */
const MOMENTS = [
  "2024-05-31 10:00:00",
  "2024-05-31 10:00:00.250",
  "2024-06-01 00:00:00.001",
  "2023-12-31 23:59:59.999",
];
const MICROS = [...MOMENTS, "2024-05-31 10:00:00.250001", "2024-05-31 10:00:00.250999", "2024-06-01 00:00:00.001500"];
export const FORMS = [
  ...MICROS,
  "2024-05-31T10:00:00Z",
  "2024-05-31T10:00:00.250+00:00",
  "2024-05-31T12:00:00+02:00",
  "2024-06-01",
];

export type Columns = Readonly<Record<Database, string>>;
const same = (type: string): Columns => ({ SQLite: type, PostgreSQL: type, MariaDB: type });

/** Column types by a name in these schemas, with some of their values. */
export const TYPES: Readonly<Record<string, Columns & { readonly values: readonly (string | number)[] }>> = {
  int: { ...same("integer"), values: [-7, 0, 1, 2, 3, 2_147_483_647] },
  big: { ...same("bigint"), values: ["-9007199254740993", "0", "9007199254740993", "7"] },
  word: { ...same("varchar(40)"), values: WORDS },
  long: { ...same("text"), values: [...WORDS, "x".repeat(300)] },
  flag: { ...same("boolean"), values: [0, 1] },
  price: { ...same("decimal(12,2)"), values: ["0.00", "19.90", "-3.05", "1000000.10"] },
  real: { SQLite: "real", PostgreSQL: "double precision", MariaDB: "double", values: [0, 0.1, -1.5, 1e21, 3] },
  day: { ...same("date"), values: DAYS },
  time: { SQLite: "time", PostgreSQL: "time(3)", MariaDB: "time(3)", values: ["00:00:00", "07:30:00", "23:59:59.250"] },
  moment: { SQLite: "datetime", PostgreSQL: "timestamp(3)", MariaDB: "datetime(3)", values: MOMENTS },
  micros: { SQLite: "datetime", PostgreSQL: "timestamp", MariaDB: "datetime(6)", values: MICROS },
  zoned: { SQLite: "timestamp", PostgreSQL: "timestamptz", MariaDB: "datetime(6)", values: MICROS },
  forms: { SQLite: "datetime", PostgreSQL: "timestamp", MariaDB: "datetime(6)", values: MICROS },
  bytes: { SQLite: "blob", PostgreSQL: "bytea", MariaDB: "blob", values: ["00ff", "", "4142"] },
  json: { SQLite: "json", PostgreSQL: "jsonb", MariaDB: "json", values: ['{"a": [1, null]}', "[]", '"x"'] },
  mood: {
    SQLite: "varchar(20)",
    PostgreSQL: "mood",
    MariaDB: "enum('sad', 'ok', 'very happy')",
    values: ["sad", "ok", "very happy"],
  },
  list: { ...same("text"), PostgreSQL: "text[]", values: ["{}"] },
  serial: { SQLite: "integer", PostgreSQL: "serial", MariaDB: "int auto_increment", values: [] },
  key: { ...same("varchar(20)"), values: [] },
  uuid: { SQLite: "varchar(36)", PostgreSQL: "uuid", MariaDB: "char(36)", values: [] },
};

/** A column: its type, and whether it may be null ("int?"), or the table whose key it holds (">team", ">team?"). */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  /** @default the first column */
  readonly key?: readonly string[];
  /** Additional constraints; `"x"` is a quoted name. */
  readonly rest?: readonly string[];
  /** Keys that close a cycle: they are added once both tables exist. */
  readonly later?: Readonly<Record<string, string>>;
  /** @default 30 */
  readonly rows?: number;
}

export interface AwkwardSchema {
  readonly name: string;
  readonly tables: readonly Table[];
  /** Statements after the tables and their rows. */
  readonly after?: (database: Database) => readonly string[];
}

export const AWKWARD_SCHEMAS: readonly AwkwardSchema[] = [
  {
    name: "words",
    tables: [
      {
        name: "select",
        columns: {
          from: "serial",
          "Where Clause": "long?",
          group: "int",
          order: "moment?",
          "User Name": "word",
          table: "flag",
        },
      },
      {
        name: "Order Line",
        columns: { "Line No": "serial", select: ">select?", "Preis in €": "price", index: "word?", class: "int?" },
      },
      {
        name: "constructor",
        columns: { id: "key", include: "int?", createdAt: "word", _sort: "word?", toString: "flag" },
      },
    ],
  },
  {
    name: "keys",
    tables: [
      { name: "org", columns: { code: "key", title: "word" }, rows: 6 },
      { name: "member", columns: { org_code: ">org", no: "int", role: "word?" }, key: ["org_code", "no"], rows: 40 },
      { name: "dated_price", columns: { sku: "key", valid_from: "day", cents: "int" }, key: ["sku", "valid_from"] },
      { name: "shift", columns: { team: "key", mood: "mood", hours: "int" }, key: ["team", "mood"] },
      { name: "triple", columns: { a: "int", b: "key", c: "uuid", note: "long?" }, key: ["a", "b", "c"] },
    ],
  },
  {
    name: "circles",
    tables: [
      { name: "node", columns: { id: "uuid", parent_id: ">node?", root: ">node?", label: "word" } },
      { name: "chicken", columns: { chicken_id: "serial", egg: "int?", name: "word" }, later: { egg: "egg" } },
      { name: "egg", columns: { egg_id: "serial", chicken_id: ">chicken?", laid: "day?" } },
    ],
  },
  {
    name: "pairs",
    tables: [
      { name: "team", columns: { id: "serial", name: "word" }, rest: [], rows: 8 },
      {
        name: "match",
        columns: { id: "serial", home_team: ">team", guest_team_id: ">team", winner: ">team?", played: "micros" },
      },
      { name: "transfer", columns: { id: "big", team: ">team", from_team: ">team?", fee: "price?" } },
      { name: "rivalry", columns: { team_a: ">team", team_b: ">team" }, key: ["team_a", "team_b"], rows: 20 },
    ],
  },
  {
    name: "lists",
    tables: [
      { name: "person", columns: { id: "serial", mood: "mood", was: "mood?", tags: "list?", score: "int" } },
      { name: "people", columns: { id: "serial", person_id: ">person?", mood: "mood?" } },
    ],
  },
  {
    name: "indexes",
    tables: [
      {
        name: "item",
        columns: { id: "serial", sku: "word?", state: "word", price: "price", gone_at: "moment?" },
        rest: [`check ("price" > -100)`],
      },
    ],
    after: (database) => [
      `create unique index "item_extra" on "item" ("id", "price")`,
      `create index "item_state" on "item" ("state", "gone_at")`,
      ...(database === "MariaDB"
        ? []
        : [
            `create index "item_live" on "item" ("state") where "gone_at" is null`,
            `create index "item_lower" on "item" (lower("sku"))`,
            `create unique index "item_once" on "item" ("id") where "price" > 0`,
          ]),
    ],
  },
  {
    name: "views",
    tables: [
      { name: "sale", columns: { id: "serial", region: "word", amount: "price", sold_at: "zoned" }, rows: 40 },
      { name: "log", columns: { at: "moment", line: "long?" }, key: [] },
    ],
    after: () => [
      `create view "big_sale" as select "id", "region", "amount", "sold_at" from "sale" where "amount" > 0`,
      `create view "Biggest Sale" as select "id", "region", "amount" from "big_sale" where "amount" > 100`,
      `create view "by_region" as select "region", count(*) as "n" from "big_sale" group by "region"`,
    ],
  },
  {
    name: "values",
    tables: [
      {
        name: "thing",
        columns: {
          ...{
            id: "uuid",
            i: "int?",
            b: "big?",
            w: "word?",
            l: "long?",
            f: "flag?",
            p: "price?",
            r: "real?",
            d: "day?",
          },
          ...{ t: "time?", m: "moment?", u: "micros?", z: "zoned?", o: "forms?", x: "bytes?", j: "json?" },
        },
        rows: 60,
      },
      { name: "stamped", columns: { id: "serial", created_at: "micros", updated_at: "micros", w: "word" }, rows: 60 },
    ],
  },
];
