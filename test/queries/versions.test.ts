import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { belongsTo, entity, hasMany, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { ALL_DATABASES, type TestDatabase } from "../support/sql-databases.ts";

const everyone = ["everyone"];
const all = { create: everyone, read: everyone, update: everyone, delete: everyone };
const draft = entity("draft", { key: string.unique(), title: string, parts: hasMany(() => part) })
  .versioned()
  .rules(all);
const part = entity("part", { name: string.unique(), draft: belongsTo(() => draft).optional() })
  .versioned({ required: true })
  .rules(all);

describe.each(ALL_DATABASES)("versions, on %s", (_name, open) => {
  let database: TestDatabase;
  let app: ReturnType<typeof openApp>;
  const openApp = () => createTestApp({ entities: [draft, part], driver: database.driver });
  beforeAll(async () => {
    database = await open();
    app = openApp();
    await app.api.ready;
    await app.api.asSystem().draft.create({ id: "d1", key: "k", title: "first" });
    await app.api.asSystem().part.create({ id: "p1", name: "one", draftId: "d1" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const send = async (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    (await app.as(null).request(method, `/api/${path}`, body, headers)).status;
  const match = (value: string) => ({ "if-match": value });

  it("are incremented by upserts too", async () => {
    const put = (headers: Record<string, string>, key = "k") =>
      send("PUT", "drafts?_on=key", { key, title: "second" }, headers);
    expect(await put(match('"9"'))).toBe(412);
    expect(await put({ "if-none-match": "*" })).toBe(412);
    expect(await put(match("*"), "none")).toBe(412);
    expect(await app.api.asSystem().draft.get("d1")).toMatchObject({ title: "first", version: 1 });
    expect(await put(match('"1"'))).toBe(200);
    expect(await put({ "if-none-match": "*" }, "new")).toBe(201);
    expect(await send("PUT", "parts?_on=name", { name: "one" })).toBe(428);
    expect(await send("PUT", "parts?_on=name", { name: "two" })).toBe(201);
    const batch = [{ method: "PUT", path: "/parts?_on=name", body: { name: "one" }, headers: match('"9"') }];
    expect((await app.as(null).request("POST", "/api/batch", batch)).status).toBe(412);
  });

  it("that are required cannot be bypassed by nested writes", async () => {
    for (const parts of [
      { update: [{ id: "p1", name: "x" }] },
      { delete: ["p1"] },
      { disconnect: ["p1"] },
      { set: [] },
      { upsert: [{ where: { name: "one" }, create: { name: "x" }, update: { name: "x" } }] },
    ])
      expect(await send("PATCH", "drafts/d1", { parts }, match("*"))).toBe(428);
    expect(await app.api.asSystem().part.get("p1")).toMatchObject({ name: "one", version: 1 });
    expect(await send("PATCH", "drafts/d1", { parts: { create: [{ name: "three" }] } })).toBe(200);
  });
});
