import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, bool, datetime, defineRule, entity, hasMany, int, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

const everyone = ["everyone"];
const shared = defineRule("sharedNotesOfUpserts", () => ({ internal: "no" }));
const boss = defineRule("bossOfUpserts", ({ user }) => ({ boss: String(user?.id) }));
const ticket = entity("ticket", { title: string, entries: hasMany(() => entry) })
  .timestamps(false)
  .rules({ read: everyone, update: everyone });
const entry = entity("entry", {
  text: string,
  at: datetime.optional(),
  times: datetime.array(),
  open: bool.default(true),
  boss: string,
  hours: int.readable(boss),
  ticket: belongsTo(() => ticket),
  notes: hasMany(() => note),
})
  .timestamps(false)
  .rules({ read: everyone, create: everyone, update: everyone });
const note = entity("note", { text: string, internal: string, entry: belongsTo(() => entry) })
  .timestamps(false)
  .rules({ read: [shared] });

describe.each(ALL_DATABASES)("the condition of a nested upsert, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [ticket, entry, note], driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["note", "entry", "ticket"]) await driver.deleteMany(one, { id: { null: false } });
    await driver.create("ticket", { id: "t", title: "t" });
    await driver.create("entry", { id: "e", text: "old", times: [], boss: "eve", hours: 7, ticketId: "t" });
    await driver.create("note", { id: "n", text: "fraud", internal: "yes", entryId: "e" });
  });

  async function upsert(where: unknown, id = "bob"): Promise<unknown> {
    const create = { text: "created", times: ["2026-01-05"], boss: id, hours: 1 };
    const body = { entries: { upsert: [{ where, create, update: { text: "changed" } }] } };
    const { status } = await app.as({ id }).request("PATCH", "/api/tickets/t", body);
    const rows = await app.api.driver.findMany("entry", { select: ["text"] });
    return [status, ...rows.map(({ text }) => text).sort()];
  }

  it.each([
    ["starts as asked", { notes: { text: { starts: "f" } } }],
    ["starts in another way", { notes: { text: { starts: "x" } } }],
  ])("gives no hint that a hidden record %s", async (_, hidden) => {
    expect(await upsert({ NOT: hidden })).toEqual([200, "changed"]);
    expect(await upsert(hidden)).toEqual([200, "changed", "created"]);
  });
  it.each([
    ["is larger", { hours: { gt: 6 } }],
    ["is smaller", { hours: { gt: 8 } }],
  ])("gives no hint that a hidden value %s", async (_, hidden) => {
    expect(await upsert({ id: "e", NOT: hidden })).toEqual([200, "changed"]);
    expect(await upsert({ id: "e", ...hidden })).toEqual([200, "changed", "created"]);
  });
  it("compares datetimes as JSON writes them", async () => {
    await app.api.driver.update("entry", { id: "e" }, { at: new Date("2026-01-05T00:00:00Z") });
    expect(await upsert({ at: { lt: "2026-01-05" } })).toEqual([200, "created", "old"]);
    expect(await upsert({ or: [{ at: "2026-01-05T00:00:00Z" }, { ticket: { entries: { none: {} } } }] })).toEqual([
      200,
      "changed",
      "created",
    ]);
    expect(await upsert({ times: { has: "2026-01-05T00:00:00Z" }, text: "created" })).toEqual([
      200,
      "changed",
      "changed",
    ]);
    expect(await upsert({ times: { hasAny: ["2026-01-06"] } })).toEqual([200, "changed", "changed", "created"]);
    expect(await upsert({ open: { null: "true" } })).toEqual([400, "changed", "changed", "created"]);
    expect(await upsert({ at: { lt: "yesterday" } })).toEqual([400, "changed", "changed", "created"]);
  });
  it("finds by values and records that the caller may read", async () => {
    expect(await upsert({ id: "e", hours: { gt: 6 } }, "eve")).toEqual([200, "changed"]);
    await app.api.driver.update("note", { id: "n" }, { internal: "no" });
    expect(await upsert({ notes: { text: "fraud" } })).toEqual([200, "changed"]);
    expect(await upsert({ id: "e", NOT: { notes: { text: "fraud" } } })).toEqual([200, "changed", "created"]);
  });
});
