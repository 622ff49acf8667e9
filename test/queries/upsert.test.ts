import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { entity, type Plugin, string } from "../../src/index.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { rateLimit } from "../../src/plugins/rate-limit/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { openShop, refillShop, SHOP, type Shop } from "./shop.ts";

const secret = entity("secret", { code: string.unique().encrypted({ searchable: true }), name: string }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: ["everyone"],
});
const PLACED = "2026-05-01T00:00:00.000Z";

describe.each(everyDatabase(SHOP, 0))("an upsert, on %s", (_name, open) => {
  let database: TestDatabase;
  let shop: Shop;
  beforeAll(async () => {
    database = await open();
    shop = await openShop(database.driver);
  });
  afterEach(() => refillShop(shop));
  afterAll(async () => {
    await shop?.app.close();
    await database?.drop();
  });

  const put = (path: string, body: unknown, caller = shop.staff) => caller.request("PUT", `/api/${path}`, body);

  it("updates the record that has the key, or creates it", async () => {
    const made = await put("tags?_on=word", { word: "fresh" });
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/tags/${(made.body as { id: string }).id}`]);
    expect((await put("tags?_on=word", { word: "fresh" })).status).toBe(200);
    const changed = await put("orders?_on=number&select=state", { number: "1000", state: "sent" });
    expect([changed.status, changed.body]).toEqual([200, { id: "o00", state: "sent" }]);
  });

  it("applies the rules of the create or update that it makes", async () => {
    // Ann cannot see Bob's order, so this would be a new one, whose number is taken.
    const theirs = { number: "1001", placedAt: PLACED, customerId: "ann" };
    expect((await put("orders?_on=number", theirs, shop.ann)).status).toBe(409);
    expect((await put("orders?_on=number", { ...theirs, number: "x", customerId: "bob" }, shop.ann)).status).toBe(403);
    expect((await put("customers?_on=login", { login: "bob", name: "B" }, shop.ann)).status).toBe(403);
    expect((await put("customers?_on=login", { login: "ann", name: "Ann" }, shop.ann)).status).toBe(200);
    expect((await put("tags?_on=word", { word: "gift" }, shop.anonymous)).status).toBe(401);
  });

  it.each([
    ["tags", "_on"],
    ["tags?_on=", "_on"],
    ["tags?_on=id", 'no unique field, and no unique combination of fields, "id"'],
    ["orders?_on=state", 'no unique field, and no unique combination of fields, "state"'],
    ["customers?_on=card", 'no unique field, and no unique combination of fields, "card"'],
    ["customers?_on=nothing", 'no unique field, and no unique combination of fields, "nothing"'],
    ["orders?_on=number,state", 'no unique field, and no unique combination of fields, "number,state"'],
    ["tags?_on=word", "word: is needed"],
  ])("refuses %s with an explanation", async (path, sentence) => {
    const { status, body } = await put(path, { name: "x" });
    const { message, errors = {} } = body as { message: string; errors?: Record<string, string> };
    const said = [message, ...Object.entries(errors).map(([name, text]) => `${name}: ${text}`)].join("\n");
    expect([status, said]).toEqual([400, expect.stringContaining(sentence)]);
  });

  it("creates one record for many parallel requests", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => put("tags?_on=word", { word: "raced" })));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([201]);
    expect(await shop.app.api.asSystem().tag.count({ word: "raced" })).toBe(1);
  });

  it("works the same in the process", async () => {
    const client = shop.app.api.as({ id: "eve", role: "staff" });
    const one = await client.tag.upsert({ word: "mine" }, { on: "word" });
    expect(await client.tag.upsert({ word: "mine" }, { on: ["word"] })).toEqual(one);
  });
});

describe("an upsert among plugins", () => {
  const openApp = async (rules: { create?: string[]; update?: string[] }, plugin: Plugin) => {
    const word = entity("word", { text: string.unique() }).rules({ read: ["everyone"], ...rules });
    const app = createTestApp({ entities: [word], plugins: [plugin] });
    onTestFinished(() => app.close());
    await app.api.ready;
    await app.api.asSystem().word.create({ text: "known" });
    return (text: string, headers = {}) =>
      app
        .as({ id: "eve" })
        .request("PUT", "/api/words?_on=text", { text }, headers)
        .then(({ status }) => status);
  };
  const everyone = ["everyone"];

  it("counts for the quotas of both possible operations", async () => {
    for (const action of ["create", "update", "upsert"]) {
      const policies = [{ name: "words", limit: 2, window: 60, for: { entity: "word", action } }];
      const put = await openApp({ create: everyone, update: everyone }, rateLimit({ policies }));
      expect([await put("a"), await put("known"), await put("c")]).toEqual([201, 200, 429]);
    }
  });

  it("accepts an idempotency key from a caller with only one of the two rights", async () => {
    const statuses = async (rules: { create?: string[]; update?: string[] }) => {
      const put = await openApp(rules, idempotency());
      return [await put("new", { "idempotency-key": "k1" }), await put("known", { "idempotency-key": "k2" })];
    };
    expect(await statuses({ create: everyone })).toEqual([201, 403]);
    expect(await statuses({ update: everyone })).toEqual([403, 200]);
    expect(await statuses({})).toEqual([403, 403]);
  });
});

describe.each(everyDatabase([secret], 0))("an upsert by an encrypted field, on %s", (_name, open) => {
  it("updates the record that has the value", async () => {
    const database = await open();
    const app = createTestApp({ entities: [secret], driver: database.driver, encryption: { key: "5f".repeat(32) } });
    onTestFinished(async () => {
      await app.close();
      await database.drop();
    });
    const put = (name: string) => app.as(null).request("PUT", "/api/secrets?_on=code", { code: "c1", name });
    expect([(await put("one")).status, (await put("two")).status]).toEqual([201, 200]);
    expect(await app.api.asSystem().secret.list()).toMatchObject({ data: [{ code: "c1", name: "two" }] });
  });
});
