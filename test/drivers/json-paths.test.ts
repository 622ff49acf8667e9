import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entity, int, json, jsonTyped } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyWay } from "../support/every-database.ts";
import { propertyOptions } from "../support/properties.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

interface Settings {
  theme?: "dark" | "light" | null;
  size?: number;
  author?: { name: string; tags: string[] };
}

const rules = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const settings = jsonTyped<Settings>().optional();
const doc = entity("doc", {
  nr: int,
  settings,
  anything: json.optional(),
  secret: json.readable("admin").optional(),
  sealed: json.encrypted().optional(),
}).rules(rules);

/** Names that are special in some database, or in JavaScript. */
const KEYS = [
  ...["a", "A", "", "0", "a.b", "a b", 'a"b', "a\\b", "a'b", "$", "*", "**", "[0]", "$.a", "ü", "😀", "%", "_", "!"],
  ...["null", "path", "constructor", "toString", "length", "'); drop table doc; --", "a\nb", "\u0001", "?", "$1", "@"],
];
const VALUES = [
  "dark",
  "Dark",
  "",
  "3",
  "03",
  "true",
  "null",
  "é",
  "😀",
  "a\\b",
  "%",
  'say "x"',
  3,
  3.5,
  -0.1,
  1e21,
  true,
  false,
  null,
];

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
const keys = fc.constantFrom(...KEYS);
const values = fc.constantFrom<Json>(...VALUES);
const documents = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    values,
    fc.array(tie("node"), { maxLength: 3 }),
    fc.dictionary(keys, tie("node"), { maxKeys: 4 }),
  ),
})).node;
const paths = fc.array(fc.oneof(keys, fc.nat(2)), { minLength: 1, maxLength: 3 });

/** The expected results according to the guide. */
function at(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let found: Json | undefined = value;
  for (const step of path) {
    const isArray = Array.isArray(found);
    if (typeof found !== "object" || found === null || isArray !== (typeof step === "number")) return undefined;
    found = Object.hasOwn(found, step) ? (found as Record<string | number, Json>)[step] : undefined;
  }
  return found ?? undefined;
}
const points = (text: string): number[] => [...text].map((character) => character.codePointAt(0) as number);
function order(a: string | number, b: string | number): number {
  if (typeof a === "number") return a - (b as number);
  const [one, other] = [points(a), points(b as string)];
  const index = one.findIndex((point, place) => point !== other[place]);
  return index === -1 ? one.length - other.length : (one[index] as number) - (other[index] ?? -1);
}
const TESTS: Readonly<Record<string, (found: Json | undefined, value: Json) => boolean>> = {
  eq: (found, value) => (value === null ? found === undefined : found === value),
  ne: (found, value) => (value === null ? found !== undefined : found !== value),
  gt: (found, value) => typeof found === typeof value && order(found as string, value as string) > 0,
  lte: (found, value) => typeof found === typeof value && order(found as string, value as string) <= 0,
  like: (found, value) => typeof found === "string" && found.toLowerCase().includes((value as string).toLowerCase()),
  null: (found, value) => (found === undefined) === value,
};

describe.each(everyWay([doc], 1))("conditions on JSON on %s", (name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<[typeof doc]>>;

  beforeAll(async () => {
    database = await open();
    const encryption = { key: "0123456789abcdef".repeat(4) };
    app = createTestApp({ entities: [doc], driver: database.driver, encryption });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ask = async (method: string, path: string, body?: unknown) =>
    app.as({ id: "ann" }).request(method, `/api/${path}`, body);
  const numbers = async (query: string) => {
    const { status, body } = await ask("GET", `docs?${query}&_sort=nr&_limit=1000`);
    expect(status, `${query} ${JSON.stringify(body)}`).toBe(200);
    return (body as { nr: number }[]).map(({ nr }) => nr);
  };
  const inTree = (where: object) => numbers(`_where=${encodeURIComponent(JSON.stringify(where))}`);
  const store = async (documentsGiven: readonly (Json | undefined)[]) => {
    await app.api.driver.deleteMany("doc", { id: { null: false } });
    for (const [nr, anything] of documentsGiven.entries())
      await app.api.asSystem().doc.create({ nr, anything: anything ?? null });
  };

  it("find the same records on each database, for any names and values", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.dictionary(keys, documents, { minKeys: 1, maxKeys: 6 }), { nil: undefined }), {
          minLength: 3,
          maxLength: 6,
        }),
        fc.array(fc.tuple(paths, values, fc.constantFrom(...Object.keys(TESTS))), { minLength: 12, maxLength: 12 }),
        async (given, questions) => {
          await store(given);
          for (const [path, value, test] of questions) {
            if (test === "like" && typeof value !== "string") continue;
            if ((test === "gt" || test === "lte") && typeof value !== "string" && typeof value !== "number") continue;
            const operand = test === "null" ? value === true : value;
            const expected = given.flatMap((one, nr) => (TESTS[test]?.(at(one, path), operand) ? [nr] : []));
            // Databases fold letters other than A to Z differently.
            if (test === "like" && !/^[\x20-\x7e]*$/.test(value as string)) continue;
            expect(
              await inTree({ anything: { path, [test]: operand } }),
              JSON.stringify([path, test, operand]),
            ).toEqual(expected);
          }
        },
      ),
      propertyOptions(12),
    );
  });

  it("are refused if a database cannot find a name", async () => {
    await store([{ "-a": 1 }]);
    const query = encodeURIComponent('{"anything":{"path":["-a"],"eq":1}}');
    expect((await ask("GET", `docs?_where=${query}`)).status).toBe(name.startsWith("MariaDB") ? 400 : 200);
  });

  it("treat every hostile name as a name", async () => {
    await store(KEYS.map((key) => ({ [key]: { [key]: [key] } })));
    for (const [nr, key] of KEYS.entries())
      expect(await inTree({ anything: { path: [key, key, 0], eq: key } }), key).toEqual([nr]);
    expect(await app.api.driver.count("doc", {})).toBe(KEYS.length);
  });

  it.each([
    ["settings.theme=dark", [0]],
    ["settings.theme_ne=dark", [1, 2, 3, 4]],
    ["settings.theme_in=dark,light", [0, 1]],
    ["settings.theme=dark&settings.theme=light", [0, 1]],
    ["settings.theme_null=true", [2, 3, 4]],
    ["settings.size_gt=3", [1]],
    ["settings.size=3", [0]],
    ["settings.author.name_like=NN", [0]],
    ["settings.author.tags.0=x", [0]],
    ["settings.author.tags.1_null=false", [0]],
    ["settings.theme_starts=li&settings.size_lte=5", [1]],
    ['_where={"or":[{"settings":{"path":["theme"],"eq":"dark"}},{"settings":null}]}', [0, 4]],
    ['_where={"not":{"settings":{"path":["size"],"gte":3}}}', [2, 3, 4]],
    ["settings_null=true", [4]],
  ])("are parameters with a path: %s", async (query, expected) => {
    await app.api.driver.deleteMany("doc", { id: { null: false } });
    const given: readonly (Settings | null)[] = [
      { theme: "dark", size: 3, author: { name: "Ann", tags: ["x", "y"] } },
      { theme: "light", size: 5 },
      { theme: null, size: 2 },
      {},
      null,
    ];
    for (const [nr, one] of given.entries()) await app.api.asSystem().doc.create({ nr, settings: one });
    expect(await numbers(query.replaceAll('"', "%22"))).toEqual(expected);
    expect(await app.api.asSystem().doc.count({ settings: { path: ["author", "tags", 1], eq: "y" } })).toBe(1);
  });

  it.each([
    "secret.a=1",
    "sealed.a=1",
    "settings.=1",
    "settings..a=1",
    "nr.a=1",
    '_where={"settings":{"path":[],"eq":1}}',
    '_where={"settings":{"path":"theme","eq":1}}',
    '_where={"settings":{"path":["a",-1],"eq":1}}',
    '_where={"settings":{"path":["a"],"eq":{}}}',
    '_where={"settings":{"path":["a"],"gt":true}}',
    '_where={"settings":{"path":["a"]}}',
    '_where={"secret":{"path":["a"],"eq":1}}',
    '_where={"sealed":{"path":["a"],"eq":1}}',
  ])("are refused: %s", async (query) => {
    expect((await ask("GET", `docs?${query.replaceAll('"', "%22")}`)).status).toBe(400);
  });
});

describe("conditions on typed JSON", () => {
  it("accept the paths and the values of the type", () => {
    const client = createTestApp({ entities: [entity("doc", { settings, anything: json.optional() })] }).api.asSystem()
      .doc;
    const typed = () => [
      client.count({ settings: { path: ["theme"], eq: "dark" } }),
      client.count({ settings: { path: ["author", "tags", 0], starts: "x" } }),
      client.count({ anything: { path: ["whatever", 3], gt: 4 } }),
      // @ts-expect-error no such member
      client.count({ settings: { path: ["colour"], eq: "dark" } }),
      // @ts-expect-error no such value
      client.count({ settings: { path: ["theme"], eq: "pink" } }),
    ];
    expect(typed).toBeTypeOf("function");
  });
});
