import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { action, bool, defineRule, entity, string } from "../../../src/index.ts";
import { defineKind } from "../../../src/plugin.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

const score = defineKind({ name: "score", stored: "int", schema: z.int(), operators: ["gt", "lt"] });
const low = defineRule("rfoLow", ({ record }) => Number(record?.score) < 10);
const isOpen = defineRule("rfoRestrictedOpen", () => ({ open: true }));
const card = entity("card", { title: string, score }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: [low],
});
const rated = defineRule("rfoRated", ({ record }) => Number(record?.rating) < 10);
const seal = entity("seal", { title: string, rating: score.default(1).omit().readonly() }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: [rated],
});
const note = entity("note", { title: string, open: bool.default(true), score: score.readable(isOpen) })
  .rules({ read: ["everyone"], create: ["everyone"] })
  .actions({ total: action().handler(async ({ client }) => ({ total: await client("note").count() })) });

describe.each(ALL_DATABASES)("a kind of one's own with few operators, on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await open();
    app = createTestApp({
      entities: [card, seal, note],
      driver: database.driver,
      plugins: (defaults) => defaults.with(idempotency()),
    });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  it("may be read by a rule that sees the record", async () => {
    const ann = app.as({ id: "ann" });
    const { body } = await ann.request("POST", "/api/cards", { title: "a", score: 1 });
    const { id } = body as { id: string };
    expect(await ann.request("PATCH", `/api/cards/${id}`, { title: "b" })).toMatchObject({ status: 200 });
  });

  it("is not named to callers who may not read it", async () => {
    const ann = app.as({ id: "ann" });
    const { body } = await ann.request("POST", "/api/seals", { title: "a" });
    const { id } = body as { id: string };
    const answer = await ann.request("PATCH", `/api/seals/${id}`, { title: "b" });
    expect(JSON.stringify(answer.body)).not.toContain("rating");
  });

  it("may be a field of a counted record in a request with a key", async () => {
    const ann = app.as({ id: "ann" });
    const send = (headers = {}) => ann.request("POST", "/api/notes/total", {}, headers);
    expect(await send()).toMatchObject({ status: 200 });
    expect(await send({ "idempotency-key": "k" })).toMatchObject({ status: 200 });
  });
});
