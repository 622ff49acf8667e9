import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { defineRule, entity, string, type Where } from "../../../src/index.ts";
import { defineKind } from "../../../src/plugin.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

// Drivers store a UUID in lower case and a time with seconds, whatever the schema of an own kind returns.
const token = defineKind({ name: "token", stored: "uuid", schema: z.uuid() });
const hour = defineKind({ name: "hour", stored: "time", schema: z.string().regex(/^\d\d:\d\d(:\d\d)?$/) });
const BLOCKED = "0192f0c1-0000-7000-8000-00000000000a";
const OTHER = "0192f0c1-0000-7000-8000-00000000000b";
const notBlocked = (where: Where) => defineRule(`rokNot${JSON.stringify(where).replace(/[(),]/g, "")}`, () => where);
const rules = { read: ["everyone"] };
const badge = entity("badge", { token, name: string.optional() }).rules({
  ...rules,
  create: [notBlocked({ token: { ne: BLOCKED } })],
});
const visit = entity("visit", { hour }).rules({ ...rules, create: [notBlocked({ hour: { ne: "09:30:00" } })] });
const ring = entity("ring", { tokens: token.array() }).rules({
  ...rules,
  create: [notBlocked({ NOT: { tokens: { has: BLOCKED } } })],
});
const read = defineRule("rokReadsToken", ({ record }) => record?.token !== BLOCKED);
const card = entity("card", { token }).rules({ ...rules, create: [read] });
const onlyOther = defineRule("rokOnlyOther", ({ record }) => record === null || record.token !== BLOCKED);
const pass = entity("pass", { token, seal: string.optional().writable(onlyOther) }).rules({
  ...rules,
  create: ["everyone"],
});

describe.each(ALL_DATABASES)("a new record with kinds of one's own, on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [badge, visit, ring, card, pass], driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  it.each<[string, object, object]>([
    ["badge", { token: OTHER }, { token: BLOCKED }],
    ["badge", { token: OTHER.toUpperCase() }, { token: BLOCKED.toUpperCase() }],
    ["visit", { hour: "09:31" }, { hour: "09:30" }],
    ["ring", { tokens: [OTHER] }, { tokens: [BLOCKED.toUpperCase()] }],
    ["card", { token: OTHER }, { token: BLOCKED.toUpperCase() }],
  ])("is decided on as it will be stored: %s %j %j", async (name, allowed, refused) => {
    const ann = app.as({ id: "ann" });
    const paths: Record<string, string> = { badge: "badges", visit: "visits", ring: "rings", card: "cards" };
    expect(await ann.request("POST", `/api/${paths[name]}`, allowed)).toMatchObject({ status: 201 });
    expect(await ann.request("POST", `/api/${paths[name]}`, refused)).toMatchObject({ status: 403 });
  });

  it("has its fields decided on as it will be stored", async () => {
    const { body } = await app.as({ id: "ann" }).request("POST", "/api/passes", {
      token: BLOCKED.toUpperCase(),
      seal: "gold",
    });
    expect(body).toMatchObject({ token: BLOCKED, seal: null });
  });
});
