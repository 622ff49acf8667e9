import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  all,
  archiveAction,
  belongsTo,
  bool,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  importAction,
  string,
  toggleAction,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES, type TestDatabase } from "../../support/sql-databases.ts";

const me = (user: { id: string } | null): string => String(user?.id);
const ownsOrg = defineRule("crOwnsOrg", ({ user }) => ({ org: { members: { userId: me(user), role: "owner" } } }));
const notLocked = defineRule("crNotLocked", ({ record }) => record?.locked !== true);
const own = defineRule("crOwn", ({ user, record }) => record?.userId === user?.id);
const reading = { read: ["everyone"] };

const org = entity("org", { members: hasMany(() => member), seats: hasMany(() => seat) }).rules(reading);
const fields = { userId: string, role: string, locked: bool.default(false), org: belongsTo(() => org) };
const member = entity("member", { ...fields, slug: string.optional() })
  .unique(["orgId", "slug"])
  .rules({ ...reading, update: [ownsOrg] })
  .actions({ bulk: bulkUpdateAction });
const seatRule = defineRule("crSeat", ({ user }) => ({ org: { seats: { userId: me(user), role: "owner" } } }));
const seat = entity("seat", { ...fields, slug: string.optional() })
  .unique(["orgId", "slug"])
  .rules({ ...reading, update: [all(seatRule, notLocked)] });
const card = entity("card", {
  userId: string,
  flag: bool.default(false).writable(own),
  archived: bool.default(false),
})
  .rules({ ...reading, update: ["everyone"] })
  .actions({ toggle: toggleAction("flag"), archive: archiveAction });
const leads = defineRule("crLeads", ({ user }) => ({ lead: me(user) }));
const unit = entity("unit", {
  code: string.unique(),
  lead: string,
  parent: belongsTo(() => unit)
    .optional()
    .inverse("parts"),
  parts: hasMany(() => unit).inverse("parent"),
})
  .rules({ ...reading, create: ["everyone"], update: [leads] })
  .actions({ import: importAction({ upsertBy: "code" }) });
const entities = [org, member, seat, card, unit];

describe.each(ALL_DATABASES)("a rule about a changed record, on %s", (_, open) => {
  let database: Pick<TestDatabase, "driver" | "drop">;
  let app: ReturnType<typeof createTestApp<typeof entities>>;
  const eve = { id: "eve" };

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities, driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    const { driver } = database;
    for (const name of ["card", "member", "seat", "org", "unit"])
      await driver.deleteMany(name, { id: { null: false } });
    const system = app.api.asSystem();
    for (const id of ["o1", "o2"]) await system.org.create({ id });
    for (const name of ["member", "seat"] as const) {
      await system[name].create({ id: "eve", userId: "eve", role: "owner", orgId: "o1" });
      await system[name].create({ id: "bob", userId: "bob", role: "owner", orgId: "o2", slug: "taken" });
    }
    await system.card.create({ id: "c", userId: "eve", flag: true, archived: true });
  });
  const patch = async (path: string, body: unknown): Promise<number> =>
    (await app.as(eve).request("PATCH", `/api/${path}`, body)).status;

  it.each(["member", "seat"] as const)("is not satisfied by the change itself (%s)", async (name) => {
    expect(await patch(`${name}s/eve`, { orgId: "o2" })).toBe(403);
    expect(await app.api.asSystem()[name].get("eve")).toMatchObject({ orgId: "o1" });
    expect(await patch(`${name}s/eve`, { role: "owner", orgId: "o1", userId: "eve" })).toBe(200);
    expect(await patch(`${name}s/eve`, { role: "guest" })).toBe(403);
  });

  it.each(["member", "seat"] as const)("is decided before unique values (%s)", async (name) => {
    for (const slug of ["taken", "free"]) expect(await patch(`${name}s/eve`, { orgId: "o2", slug })).toBe(403);
  });

  it("is decided before unique values in the nested writes of an import", async () => {
    const { unit: units } = app.api.asSystem();
    await units.create({ id: "whole", code: "whole", lead: "eve" });
    await units.create({ id: "part", code: "part", lead: "bob", parentId: "whole" });
    await units.create({ code: "taken", lead: "bob" });
    const importing = async (id: string, code: string): Promise<unknown> => {
      const rows = [{ code: "whole", parts: { update: [{ id, code }] } }];
      return (await app.as(eve).request("POST", "/api/units/import", rows)).body;
    };
    const refused = await importing("part", "free");
    expect(refused).toMatchObject({ updated: 0, failed: [{ errors: { _: expect.stringContaining("denied") } }] });
    expect(await importing("part", "taken")).toEqual(refused);
    await units.update("part", { lead: "eve" });
    expect(await importing("part", "taken")).toMatchObject({ failed: [{ errors: { code: "is already taken" } }] });
    expect(await importing("part", "free")).toMatchObject({ updated: 1, failed: [] });
  });

  it("applies to actions on a record that is already in the other state", async () => {
    for (const [path, shown] of [
      ["toggle-flag", { flag: false }],
      ["toggle-flag", { flag: true }],
      ["archive", { success: true }],
    ] as const)
      expect(await app.as(eve).request("POST", `/api/cards/c/${path}`)).toMatchObject({ status: 200, body: shown });
  });
});
