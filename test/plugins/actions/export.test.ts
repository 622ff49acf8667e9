import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Driver, datetime, embedded, entity, exportAction, postgres, type Row } from "../../../src/index.ts";
import { defineKind } from "../../../src/plugin.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { CALLERS, entry, exportApp, readCsv } from "./export-library.ts";

const databases: Readonly<Record<string, () => Promise<{ driver: Driver; remove(): Promise<void> }>>> = {
  async SQLite() {
    const { file, remove } = await freshSqliteFile();
    return { driver: embedded({ file }), remove };
  },
  async PostgreSQL() {
    const { url, drop } = await freshPostgres();
    return { driver: postgres(url), remove: drop };
  },
};

const ENTRIES: readonly Row[] = [
  {
    id: "e1",
    title: 'He said "no", and\r\nleft',
    body: "",
    views: -5,
    rating: -0.5,
    published: true,
    at: new Date("2024-05-31T12:00:00.250Z"),
    meta: { a: ["=1+1", null, -2], 'q"': "," },
    memberId: "ann",
    memo: "ann's memo",
    note: "admin's note",
    diary: "=diary",
    password: "word-of-passage",
    token: "token-of-ann",
  },
  { id: "e2", title: "=1+1", body: "-5", status: "-done", meta: -5, memberId: "ann", memo: "+memo", token: "token-2" },
  { id: "e3", title: "@sum", body: "\ttab", meta: "text", published: true, memberId: "bob", memo: "bob's memo" },
  { id: "e4", title: "'=1", body: "\rreturn", rating: 1e21, meta: [], memberId: "bob" },
  { id: "e5", title: "''+1", body: "'", views: 0, meta: false, published: true, memberId: "bob", note: "-note" },
  { id: "e6", title: "gone-title", published: true, goneAt: new Date(0), memberId: "ann" },
];
const COLUMNS = Object.keys(entry.build().columns);
const HIDDEN = ["word-of-passage", "token-of-ann", "token-2", "gone-title", "keelson:", "$scrypt"];

describe.each(Object.entries(databases))("exports on %s", (_, open) => {
  let app: ReturnType<typeof exportApp>;
  let database: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    database = await open();
    app = exportApp(database.driver);
    const system = app.api.asSystem();
    for (const id of ["ann", "bob"]) await system.member.create({ id, name: id });
    for (const row of ENTRIES) await system.entry.create(row as never);
  });
  afterAll(async () => {
    await app.close();
    await database.remove();
  });

  const get = (caller: keyof typeof CALLERS, query: string, method = "GET") =>
    app.as(CALLERS[caller]).request(method, `/api/entries/export?${query}`);
  const ids = (body: unknown): unknown[] => (body as Row[]).map(({ id }) => id);

  it.each([
    ["anonymous", ["e1", "e3", "e5"], [], []],
    ["ann", ["e1", "e2", "e3", "e5"], ["ann's memo", "+memo"], []],
    ["bob", ["e1", "e3", "e4", "e5"], ["bob's memo"], []],
    ["admin", ["e1", "e2", "e3", "e4", "e5"], [], ["admin's note", "-note"]],
  ] as const)("contain for %s what the list contains, field by field", async (caller, expected, memos, notes) => {
    const { status, headers, body } = await get(caller, "format=json&_sort=id");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(ids(body)).toEqual(expected);
    expect(body).toEqual((await app.as(CALLERS[caller]).request("GET", "/api/entries?_sort=id")).body);
    const filled = (name: string) =>
      (body as Row[]).map((row) => row[name]).filter((value) => typeof value === "string");
    expect(filled("memo")).toEqual(memos);
    expect(filled("note")).toEqual(notes);
    expect((body as Row[]).every((row) => !("password" in row) && !("token" in row))).toBe(true);
    expect((body as Row[]).some((row) => "note" in row)).toBe(caller === "admin");
  });

  it.each(Object.keys(CALLERS) as (keyof typeof CALLERS)[])(
    "contain the same records for %s in every format, and nothing hidden",
    async (caller) => {
      const json = await get(caller, "");
      const ndjson = await get(caller, "format=ndjson");
      const csv = await get(caller, "format=csv");
      expect(ndjson.headers.get("content-type")).toBe("application/x-ndjson");
      const lines = (ndjson.body as string).split("\n");
      expect(lines.pop()).toBe("");
      expect(lines.map((line) => JSON.parse(line))).toEqual(json.body);
      expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
      expect(csv.headers.get("content-disposition")).toBe('attachment; filename="entries.csv"');
      const kept = { admin: ["memo", "note"], anonymous: [] as string[], ann: ["memo"], bob: ["memo"] }[caller];
      const withheld = ["password", "token", "memo", "note"].filter((name) => !kept.includes(name));
      const columns = COLUMNS.filter((name) => !withheld.includes(name));
      expect((csv.body as string).split("\r\n")[0]).toBe(columns.join(","));
      // A cell does not distinguish a hidden field from an empty one.
      const withNulls = (json.body as Row[]).map((row) => ({
        ...Object.fromEntries(columns.map((name) => [name, null])),
        ...row,
      }));
      expect(readCsv(csv.body as string, entry.build())).toEqual(withNulls);
      for (const { body } of [json, ndjson, csv])
        for (const word of HIDDEN) expect(JSON.stringify(body)).not.toContain(word);
    },
  );

  it("write CSV with quoted text, bare numbers and booleans, and harmless formulas", async () => {
    const { body } = await get(
      "admin",
      "format=csv&_sort=id&select=title,body,views,rating,published,status,at,meta,diary",
    );
    expect(body).toBe(
      [
        "id,title,body,views,rating,published,status,at,meta,diary",
        `"e1","He said ""no"", and\r\nleft","",-5,-0.5,true,"open","2024-05-31T12:00:00.250Z","{""a"":[""=1+1"",null,-2],""q\\"""":"",""}","'=diary"`,
        `"e2","'=1+1","'-5",0,,false,"'-done",,"-5",`,
        `"e3","'@sum","'\ttab",0,,true,"open",,"""text""",`,
        `"e4","''=1","'\rreturn",0,1e+21,false,"open",,"[]",`,
        `"e5","'''+1","'",0,,true,"open",,"false",`,
        "",
      ].join("\r\n"),
    );
  });

  it("accept the filters, sorts and fields of the list", async () => {
    expect(ids((await get("admin", "published=true&_sort=-title")).body)).toEqual(["e1", "e3", "e5"]);
    expect(ids((await get("admin", "_sort=views,title&_order=asc,desc")).body)).toEqual(["e1", "e3", "e2", "e4", "e5"]);
    expect(ids((await get("admin", "member.name=bob&q=sum")).body)).toEqual(["e3"]);
    expect((await get("ann", "id=e3&select=views,memo")).body).toEqual([{ id: "e3", views: 0 }]);
    expect((await get("ann", "id=e3&select=views,memo&format=csv")).body).toBe('id,views,memo\r\n"e3",0,\r\n');
    // Sorted by a column that is not selected, in a way that the caller's list allows.
    expect((await get("admin", "_sort=-views,-id&select=rating&views=0&format=ndjson")).body).toBe(
      ["e5", "e4", "e3", "e2"].map((id) => `{"id":"${id}","rating":${id === "e4" ? "1e+21" : "null"}}\n`).join(""),
    );
  });

  it("are complete documents when nothing matches", async () => {
    expect((await get("bob", "title=none")).body).toEqual([]);
    expect((await get("bob", "title=none&format=ndjson")).body).toBe("");
    expect((await get("anonymous", "title=none&format=csv&select=title")).body).toBe("id,title\r\n");
  });
});

const day = defineKind({
  name: "day",
  stored: "datetime",
  schema: z.date(),
  toText: (date: Date) => date.toISOString().slice(0, 10),
  fromText: (text: string) => new Date(text),
});
const everyone = { read: ["everyone"], create: ["everyone"] } as const;
const actions = { export: exportAction };
const visit = entity("visit", { at: datetime.optional() }).timestamps(false).rules(everyone).actions(actions);
const holiday = entity("holiday", { at: datetime, on: day }).timestamps(false).rules(everyone).actions(actions);

describe.each(Object.entries(databases))("datetimes in exports on %s", (_, open) => {
  let app: ReturnType<typeof createTestApp>;
  let database: Awaited<ReturnType<typeof open>>;
  const HOLIDAY = { id: "h", at: new Date("2024-05-01T00:00:00Z"), on: new Date("2024-05-01T00:00:00Z") };
  const at = (index: number) => (index % 5 === 0 ? null : new Date(Date.UTC(2024, 0, 1, 0, 0, 0, (index % 9) * 250)));
  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [visit, holiday], driver: database.driver });
    await app.api.ready;
    const visits = Array.from({ length: 350 }, (_, index) => ({ id: `v${index}`, at: at(index) }));
    await database.driver.createMany("visit", visits);
    await database.driver.create("holiday", HOLIDAY);
  });
  afterAll(async () => {
    await app.close();
    await database.remove();
  });
  const get = async (path: string): Promise<unknown> => (await app.as(null).request("GET", path)).body;

  it.each(["at", "-at"])("are sort keys over several batches: %s", async (key) => {
    const path = `/api/visits/export?_sort=${key}`;
    const json = (await get(path)) as Row[];
    expect(json).toHaveLength(350);
    expect(json.slice(0, 100)).toEqual(await get(`/api/visits?_sort=${key}&_limit=100`));
    const sort = [{ field: "at", direction: key === "at" ? "asc" : "desc" }] as const;
    expect(json.map(({ id }) => id)).toEqual((await database.driver.findMany("visit", { sort })).map(({ id }) => id));
    const lines = json.map((row) => `"${row.id}",${row.at === null ? "" : `"${row.at}"`}\r\n`);
    expect(await get(`${path}&format=csv`)).toBe(`id,at\r\n${lines.join("")}`);
  });

  it("are written in CSV as their kind says", async () => {
    expect(await get("/api/holidays/export?format=csv")).toBe(
      'id,at,on\r\n"h","2024-05-01T00:00:00.000Z","2024-05-01"\r\n',
    );
    expect(await get("/api/holidays/export")).toEqual([
      { id: "h", at: "2024-05-01T00:00:00.000Z", on: "2024-05-01T00:00:00.000Z" },
    ]);
  });
});
