import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES, type SqlDatabase } from "../../support/sql-databases.ts";

const leads = (user: { id: string } | null) => ({ org: { members: { userId: String(user?.id), role: "lead" } } });
const openOrLed = defineRule("cvOpenOrLed", ({ user }) => ({ OR: [{ state: "OPEN" }, leads(user)] }));
const seenOrLed = defineRule("cvSeenOrLed", ({ user, record }) => record?.state === "OPEN" || leads(user));

const closed = defineRule("cvClosed", () => ({ OR: [{ state: "CLOSED" }, { role: "boss" }] }));
const seenClosed = defineRule("cvSeenClosed", ({ record }) => record?.state === "CLOSED" || record?.role === "boss");

const org = entity("org", { members: hasMany(() => member) }).rules({ read: ["everyone"] });
const fields = { userId: string, role: string, state: string.optional().computed() };
const fieldsOfJob = { role: string, state: string.optional().computed() };
const member = entity("member", { ...fields, org: belongsTo(() => org) })
  .table("members")
  .timestamps(false)
  .existing()
  .rules({ read: ["everyone"], update: [openOrLed] });
const seat = entity("seat", { ...fields, org: belongsTo(() => other) })
  .table("seats")
  .timestamps(false)
  .existing()
  .rules({ read: ["everyone"], update: [seenOrLed] });
const other = entity("other", { members: hasMany(() => seat) }).rules({ read: ["everyone"] });
const job = entity("job", fieldsOfJob)
  .table("jobs")
  .timestamps(false)
  .existing()
  .rules({ update: [closed] });
const task = entity("task", fieldsOfJob)
  .table("tasks")
  .timestamps(false)
  .existing()
  .rules({ update: [seenClosed] });
const entities = [org, other, member, seat, job, task];

describe.each(SQL_DATABASES)("a rule about a value that the database computes, on %s", (_, open) => {
  let database: SqlDatabase;
  let app: ReturnType<typeof createTestApp<typeof entities>>;

  beforeAll(async () => {
    database = await open();
    for (const table of ["members", "seats"])
      await database.rows(`create table "${table}" ("id" varchar(128) primary key, "userId" varchar(255) not null,
        "role" varchar(255) not null, "orgId" varchar(128) not null,
        "state" varchar(255) generated always as (case when "role" = 'lead' then 'CLOSED' else 'OPEN' end) stored)`);
    for (const table of ["jobs", "tasks"])
      await database.rows(`create table "${table}" ("id" varchar(128) primary key, "role" varchar(255) not null,
        "state" varchar(255) generated always as (case when "role" = 'lead' then 'CLOSED' else 'OPEN' end) stored)`);
    app = createTestApp({ entities, driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  beforeEach(async () => {
    for (const name of ["member", "seat", "org", "other"])
      await database.driver.deleteMany(name, { id: { null: false } });
    const system = app.api.asSystem();
    for (const id of ["o1", "o2"]) {
      await system.org.create({ id });
      await system.other.create({ id });
    }
    const eve = { id: "eve", userId: "eve", role: "guest", orgId: "o1" };
    await system.member.create(eve);
    await system.seat.create(eve);
  });

  it.each(["job", "task"] as const)("may be satisfied by the new value alone, of a %s", async (name) => {
    const records = app.api.asSystem()[name];
    await records.create({ id: "j", role: "boss" });
    const patch = (role: string) => app.as({ id: "eve" }).request("PATCH", `/api/${name}s/j`, { role });
    expect(await patch("guest")).toMatchObject({ status: 403 });
    expect(await records.get("j")).toMatchObject({ role: "boss", state: "OPEN" });
    expect(await patch("lead")).toMatchObject({ status: 200 });
    expect(await records.get("j")).toMatchObject({ role: "lead", state: "CLOSED" });
  });

  describe.each(["member", "seat"] as const)("of a %s", (name) => {
    const patch = async (body: object): Promise<number> =>
      (await app.as({ id: "eve" }).request("PATCH", `/api/${name}s/eve`, body)).status;

    it("is not satisfied by the change itself", async () => {
      expect(await patch({ role: "lead" })).toBe(403);
      expect(await patch({ role: "lead", orgId: "o2" })).toBe(403);
      expect(await app.api.asSystem()[name].get("eve")).toMatchObject({ role: "guest", orgId: "o1", state: "OPEN" });
    });

    it("is decided on the value after the change", async () => {
      expect(await patch({ role: "member", orgId: "o2" })).toBe(200);
      await app.api.asSystem()[name].create({ id: "other", userId: "eve", role: "lead", orgId: "o2" });
      expect(await patch({ role: "lead", orgId: "o1" })).toBe(403);
      expect(await patch({ role: "lead" })).toBe(200);
      expect(await app.api.asSystem()[name].get("eve")).toMatchObject({ role: "lead", orgId: "o2", state: "CLOSED" });
    });
  });
});
