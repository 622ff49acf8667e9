import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entity, enums, exportAction, importAction, int, toPrismaSchema } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyWay } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

const WORDS = ["open", "in progress", "Blocked", "done", "it-s"] as const;
const rules = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const task = entity("task", {
  nr: int,
  state: enums(...WORDS).native(),
  before: enums(...WORDS)
    .native("state_before")
    .optional(),
  size: enums("small", "large").native().default("large"),
})
  .rules(rules)
  .actions({ export: exportAction, import: importAction });

const DATABASES = everyWay([task], 1);

describe.each(DATABASES)("native enums on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<[typeof task]>>;

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [task], driver: database.driver });
    await app.api.ready;
    for (const [index, state] of ["done", "open", "it-s", "Blocked", "in progress", "open"].entries()) {
      const given = { nr: index, state, before: index % 2 === 0 ? null : state };
      const { status, body } = await ask("POST", "tasks", given);
      expect(status, JSON.stringify(body)).toBe(201);
      expect(body).toMatchObject({ ...given, size: "large" });
    }
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ask = async (method: string, path: string, body?: unknown) =>
    app.as({ id: "ann" }).request(method, `/api/${path}`, body);
  const numbers = async (query: string) => {
    const { status, body, headers } = await ask("GET", `tasks?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return { numbers: (body as { nr: number }[]).map(({ nr }) => nr), next: headers.get("x-next-cursor") };
  };

  it.each([
    ["_sort=state,nr", [1, 5, 4, 3, 0, 2]],
    ["_sort=-state,nr", [2, 0, 3, 4, 1, 5]],
    ["_sort=before,nr", [0, 2, 4, 1, 5, 3]],
  ])("sort in the order of the declaration, page by page: %s", async (sort, expected) => {
    const found: number[] = [];
    for (let after = ""; ; ) {
      const page = await numbers(`${sort}&_limit=2${after}`);
      found.push(...page.numbers);
      if (page.next === null) break;
      after = `&_after=${page.next}`;
    }
    expect(found).toEqual(expected);
  });

  it.each([
    ["state=in progress", [4]],
    ["state_in=open,done", [0, 1, 5]],
    ["state_gt=in progress", [0, 2, 3]],
    ["state_lte=in progress", [1, 4, 5]],
    ["state_gt=it-s", []],
    ["state_like=O", [0, 1, 3, 4, 5]],
    ["state_starts=IN", [4]],
    ["before_ne=open", [0, 2, 3, 4]],
    ["before_gte=open", [1, 3, 5]],
    ["before_null=true", [0, 2, 4]],
    ["size=large&state_nin=open", [0, 2, 3, 4]],
  ])("are compared in that order: %s", async (query, expected) => {
    expect((await numbers(`${query.replace(" ", "%20")}&_sort=nr`)).numbers).toEqual(expected);
  });

  it("have a least and a greatest value, and group", async () => {
    const query = "group=size&min=state&max=before&count=true";
    expect((await ask("GET", `tasks/aggregate?${query}`)).body).toEqual([
      { size: "large", count: 6, min: { state: "open" }, max: { before: "Blocked" } },
    ]);
    const groups = (await ask("GET", "tasks/aggregate?group=state&count=true")).body as { state: string }[];
    expect(groups.map(({ state }) => state)).toEqual(WORDS);
  });

  it("refuse other values, and store nothing", async () => {
    const { status, body } = await ask("POST", "tasks", { nr: 9, state: "Open", before: "x" });
    expect(status).toBe(400);
    expect(Object.keys((body as { errors: object }).errors)).toEqual(["state", "before"]);
    expect((await ask("GET", "tasks?state_gt=x")).status).toBe(400);
    await expect(app.api.driver.create("task", { nr: 9, state: "Open" })).rejects.toThrow(/cannot hold/);
    expect(await app.api.driver.count("task", {})).toBe(6);
  });

  it("are exported to CSV and imported again", async () => {
    const csv = (await ask("GET", "tasks/export?format=csv&_sort=nr&select=nr,state,before")).body as string;
    const before = await numbers("_sort=state,nr");
    await app.api.driver.deleteMany("task", { id: { null: false } });
    const headers = { "content-type": "text/csv" };
    const request = new Request("http://test.invalid/api/tasks/import", { method: "POST", headers, body: csv });
    expect(await (await app.api.fetch(request)).json()).toMatchObject({ created: 6 });
    expect(await numbers("_sort=state,nr")).toEqual(before);
  });
});

describe("enums().native()", () => {
  it.each([
    ["an empty word", ["a", ""]],
    ["a word with a space at its end", ["a "]],
    ["a quote", ["it's"]],
    ["a word longer than PostgreSQL takes", ["é".repeat(32)]],
  ])("refuses %s", (_, words) => {
    expect(() => enums(...(words as [string])).native()).toThrow(/cannot be a word of a native enum/);
  });

  it("refuses a duplicate value, and one name for different values", () => {
    expect(() => enums("a", "a").native()).toThrow(/declared twice/);
    const one = entity("one", { state: enums("a", "b").native("state") });
    const other = entity("other", { state: enums("a", "c").native("state") });
    expect(() => toPrismaSchema([one, other], { provider: "postgresql" })).toThrow(/has other words elsewhere/);
    expect(toPrismaSchema([one, other], { provider: "sqlite" })).not.toContain("enum ");
  });
});
