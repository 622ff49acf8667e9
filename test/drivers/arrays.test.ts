import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bigint,
  bool,
  bytes,
  date,
  datetime,
  decimal,
  entity,
  enums,
  exportAction,
  float,
  importAction,
  int,
  string,
  time,
  uuid,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyWay } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

const rules = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const fields = {
  nr: int,
  tags: string.max(20).trim().array(),
  counts: int.min(0).array().default([]),
  sizes: float.array().default([]),
  flags: bool.array().default([]),
  bigs: bigint.array().default([]),
  prices: decimal(12, 2).array().default([]),
  days: date.array().default([]),
  moments: datetime.array().default([]),
  keys: uuid.array().default([]),
  words: enums("a", "b c").array().default([]),
  states: enums("open", "in progress").native().array().default([]),
};
const secret = bigint.array().optional().encrypted();
/** A Prisma client cannot store NULL in array columns of PostgreSQL. */
const plain = entity("plain", { ...fields, secret })
  .rules(rules)
  .actions({ export: exportAction, import: importAction });
const nullable = entity("nullable", {
  nr: int,
  tags: string.array().optional(),
  times: time.array().default(["09:30"]),
  parts: bytes.array().default([new Uint8Array([1, 2, 255])]),
  hidden: string.array().readable("admin").default(["x"]),
}).rules(rules);

const EVERY: Readonly<Record<string, readonly unknown[]>> = {
  tags: ["red", "a,b", 'say "hi"', "back\\slash", "ünï", "{}", "NULL", ""],
  counts: [0, 2147483647],
  sizes: [0.1, -1.5, 3],
  flags: [true, false],
  bigs: ["9007199254740993", "-1"],
  prices: ["19.90", "-0.05"],
  days: ["2024-02-29"],
  moments: ["2024-05-31T10:00:00.250Z"],
  keys: ["0192f0c1-2345-7abc-8def-0123456789ab"],
  words: ["b c", "a"],
  states: ["in progress", "open"],
};

type App = ReturnType<typeof createTestApp>;

function asking(app: () => App) {
  const ask = async (method: string, path: string, body?: unknown) =>
    app().as({ id: "ann" }).request(method, `/api/${path}`, body);
  const numbers = async (path: string) => {
    const { status, body } = await ask("GET", `${path}&_sort=nr`);
    expect(status, JSON.stringify(body)).toBe(200);
    return (body as { nr: number }[]).map(({ nr }) => nr);
  };
  return { ask, numbers };
}

describe.each(everyWay([plain], 1))("arrays on %s", (_name, open) => {
  let database: TestDatabase;
  let app: App;
  const { ask, numbers } = asking(() => app);

  beforeAll(async () => {
    database = await open();
    app = createTestApp({
      entities: [plain],
      driver: database.driver,
      encryption: { key: "0123456789abcdef".repeat(4) },
    });
    await app.api.ready;
    const given = { nr: 0, ...EVERY, secret: ["9007199254740993"] };
    const { status, body } = await ask("POST", "plains", given);
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject(given);
    expect((await ask("POST", "plains", { nr: 1, tags: ["red", "blue"], counts: [2, 2, 3] })).status).toBe(201);
    expect((await ask("POST", "plains", { nr: 2, tags: [] })).body).toMatchObject({ tags: [], counts: [] });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  it("are returned as sent, and can be changed", async () => {
    const [first] = (await ask("GET", "plains?nr=0")).body as [{ id: string }];
    expect(first).toMatchObject({ ...EVERY, secret: ["9007199254740993"] });
    expect((await ask("PATCH", `plains/${first.id}`, { counts: [5] })).body).toMatchObject({ ...EVERY, counts: [5] });
    expect((await ask("PATCH", `plains/${first.id}`, { counts: EVERY.counts })).status).toBe(200);
  });

  it.each(Object.entries(EVERY))("are found by their items: %s", async (name, values) => {
    for (const value of values) {
      const text = encodeURIComponent(String(value));
      if (text === "") continue;
      expect(await numbers(`plains?nr=0&${name}_has=${text}`), `${name} has ${value}`).toEqual([0]);
      const tree = encodeURIComponent(JSON.stringify({ [name]: { hasAll: [value, values[0]] } }));
      expect(await numbers(`plains?nr=0&_where=${tree}`)).toEqual([0]);
    }
    expect(await numbers(`plains?${name}_isEmpty=false&nr=0`)).toEqual([0]);
  });

  it.each([
    ["tags_has=red", [0, 1]],
    ["tags_has=re", []],
    ["tags_has=Red", []],
    ["tags_hasAny=blue,green", [1]],
    ["tags_hasAny=a\\,b,blue", [0, 1]],
    ["tags_hasAny=", []],
    ["tags_hasAll=red,blue", [1]],
    ["tags_hasAll=", [0, 1, 2]],
    ["tags_isEmpty=true", [2]],
    ["tags_isEmpty=false", [0, 1]],
    ["counts_has=2", [1]],
    ["counts_hasAll=2,3", [1]],
    ["moments_has=2024-05-31T12:00:00.250%2B02:00", [0]],
    ["prices_has=19.9", [0]],
    ['_where={"not":{"tags":{"has":"red"}}}', [2]],
    ['_where={"or":[{"tags":{"isEmpty":true}},{"tags":{"hasAny":["blue"]}}]}', [1, 2]],
  ])("are found by query strings and trees: %s", async (query, expected) => {
    expect(await numbers(`plains?${query.replaceAll('"', "%22")}`)).toEqual(expected);
  });

  it("are found by code, and later changes of the argument have no effect", async () => {
    const client = app.api.asSystem().plain as unknown as {
      create(data: object): Promise<{ id: string; tags: string[]; bigs: bigint[] }>;
      count(where: object): Promise<number>;
      delete(id: string): Promise<unknown>;
    };
    const tags = ["mine"];
    const created = await client.create({ nr: 9, tags, bigs: [2n ** 60n], moments: [new Date(0)] });
    tags.push("later");
    created.tags.push("later");
    expect(created.bigs).toEqual([2n ** 60n]);
    expect(await client.count({ bigs: { has: 2n ** 60n }, moments: { hasAny: [new Date(0)] } })).toBe(1);
    expect(await client.count({ tags: { has: "later" } })).toBe(0);
    await client.delete(created.id);
  });

  it.each([
    ["tags", "red"],
    ["tags", [1]],
    ["tags", [null]],
    ["tags", ["x".repeat(21)]],
    ["counts", [-1]],
    ["prices", ["1.005"]],
    ["days", ["2023-02-29"]],
    ["words", ["c"]],
    ["keys", ["a=b"]],
  ])("refuse invalid items, and store nothing: %s %j", async (name, value) => {
    const { status, body } = await ask("POST", "plains", { nr: 9, tags: [], [name]: value });
    expect(status).toBe(400);
    expect(Object.keys((body as { errors: object }).errors)[0]).toMatch(new RegExp(`^${name}`));
    expect(await app.api.driver.count("plain", {})).toBe(3);
  });

  it.each(["tags=red", "_sort=tags", "tags_like=r", "counts_has=x", "secret_has=1", "tags_isEmpty=no"])(
    "refuse other conditions: %s",
    async (query) => {
      expect((await ask("GET", `plains?${query}`)).status).toBe(400);
    },
  );

  it("are exported to CSV and imported again", async () => {
    const csv = (await ask("GET", "plains/export?format=csv&_sort=nr")).body as string;
    await app.api.driver.deleteMany("plain", { id: { null: false } });
    const headers = { "content-type": "text/csv" };
    const request = new Request("http://test.invalid/api/plains/import", { method: "POST", headers, body: csv });
    expect(await (await app.api.fetch(request)).json()).toMatchObject({ created: 3, failed: [] });
    expect((await ask("GET", "plains?nr=0")).body).toMatchObject([{ ...EVERY, secret: ["9007199254740993"] }]);
  });
});

const NULLABLE = everyWay([nullable], 1).filter(([name]) => name !== "PostgreSQL through a client");

describe.each(NULLABLE)("optional arrays on %s", (_name, open) => {
  let database: TestDatabase;
  let app: App;
  const { ask, numbers } = asking(() => app);

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [nullable], driver: database.driver });
    await app.api.ready;
    for (const [nr, tags] of [null, [], ["red"]].entries())
      expect((await ask("POST", "nullables", { nr, tags })).body).toMatchObject({
        tags,
        times: ["09:30:00"],
        parts: ["AQL/"],
      });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  it.each([
    ["tags_null=true", [0]],
    ["tags_isEmpty=true", [1]],
    ["tags_isEmpty=false", [2]],
    ["tags_hasAll=", [1, 2]],
    ["tags_hasAny=red", [2]],
    ["parts_has=AQL/&nr=1", [1]],
    ["times_has=09:30:00&nr=1", [1]],
    ['_where={"not":{"tags":{"has":"red"}}}', [0, 1]],
    ['_where={"not":{"tags":{"isEmpty":true}}}', [0, 2]],
  ])("distinguish NULL from empty: %s", async (query, expected) => {
    expect(await numbers(`nullables?${query.replaceAll('"', "%22")}`)).toEqual(expected);
  });

  it("cannot be queried by callers who may not read them", async () => {
    expect((await ask("GET", "nullables?hidden_has=x")).status).toBe(400);
    expect(await app.api.asSystem().nullable?.count({ hidden: { has: "x" } })).toBe(3);
  });
});
