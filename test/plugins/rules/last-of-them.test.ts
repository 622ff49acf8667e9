import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { all, belongsTo, bool, bulkDeleteAction, defineRule, entity, hasMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

// Rules that read other records of the same entity, decided for two parallel requests: each would find the other's record.

const me = (user: { id: string } | null): string => String(user?.id);
const own = defineRule("lotOwn", ({ user }) => ({ userId: me(user) }));
const another = defineRule("lotAnother", ({ user }) => ({
  group: { members: { role: "admin", userId: { ne: me(user) } } },
}));
const notLast = defineRule(
  "lotNotLast",
  ({ record }) => record !== null && { group: { members: { role: "admin", id: { ne: String(record.id) } } } },
);
const first = defineRule("lotFirst", () => ({ group: { NOT: { members: {} } } }));

const group = entity("group", { name: string, members: hasMany(() => member) }).rules({ read: ["everyone"] });
const member = entity("member", { userId: string, role: string, group: belongsTo(() => group) })
  .rules({ read: ["everyone"], create: [first], update: [all(own, another)], delete: [notLast] })
  .actions({ bulkDelete: bulkDeleteAction });

const ROUNDS = 8;

describe.each(ALL_DATABASES)("a rule about the others of a group on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp<[typeof group, typeof member]>>;
  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [group, member], driver: database.driver });
    await app.api.ready;
    await app.api.asSystem().group.create({ id: "g", name: "G" });
  });
  beforeEach(() => app.api.driver.deleteMany("member", { id: { null: false } }));
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const as = (id: string) => app.as({ id });
  it.each<[string, (id: string) => Promise<{ status: number }>]>([
    ["deletes", (id) => as("x").request("DELETE", `/api/members/${id}`)],
    ["changes", (id) => as(id).request("PATCH", `/api/members/${id}`, { role: "user" })],
    ["bulk deletions", (id) => as("x").request("POST", "/api/members/bulk-delete", { ids: [id] })],
  ])("leaves one administrator after parallel %s", async (_what, run) => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const id of ["a", "b"])
        await app.api.asSystem().member.create({ id, userId: id, role: "admin", groupId: "g" });
      const statuses = (await Promise.all([run("a"), run("b")])).map(({ status }) => status);
      expect([
        statuses.filter((status) => status >= 500),
        await app.api.driver.count("member", { role: "admin" }),
      ]).toEqual([[], 1]);
      await app.api.driver.deleteMany("member", { id: { null: false } });
    }
  });

  it("allows one record to be the first of parallel creates", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const create = (userId: string) =>
        as("x").request("POST", "/api/members", { userId, role: "user", groupId: "g" });
      const statuses = (await Promise.all([create("a"), create("b")])).map(({ status }) => status);
      expect(statuses.sort()).toEqual([201, 403]);
      await app.api.driver.deleteMany("member", { id: { null: false } });
    }
  });
});

// The same with a longer path to the others, with an empty path, and with a record that joins them.

const orgOthers = defineRule(
  "lotOrgOthers",
  ({ record }) =>
    record !== null && { team: { org: { teams: { staff: { role: "admin", id: { ne: String(record.id) } } } } } },
);
const firstOfOrg = defineRule("lotFirstOfOrg", () => ({ team: { org: { NOT: { teams: { staff: {} } } } } }));
const watched = defineRule("lotWatched", () => ({ buddy: { active: true } }));
const alone = defineRule(
  "lotAlone",
  ({ record }) => record !== null && { room: { NOT: { guests: { id: { ne: String(record.id) } } } } },
);
const everyone = { read: ["everyone"] } as const;
const org = entity("org", { name: string, teams: hasMany(() => team) }).rules(everyone);
const team = entity("team", { org: belongsTo(() => org), staff: hasMany(() => staff) }).rules(everyone);
const staff = entity("staff", { role: string, team: belongsTo(() => team) })
  .plural("staff")
  .rules({ ...everyone, create: [firstOfOrg], update: [orgOthers], delete: [orgOthers] })
  .actions({ bulkDelete: bulkDeleteAction });
const guard = entity("guard", { active: bool.default(true), buddy: belongsTo(() => guard).optional() }).rules({
  ...everyone,
  update: [watched],
});
const room = entity("room", { name: string, guests: hasMany(() => guest), chairs: hasMany(() => chair) }).rules(
  everyone,
);
const stillChaired = defineRule(
  "lotStillChaired",
  ({ record }) => record?.role === "admin" || { room: { chairs: { role: "admin" } } },
);
const chair = entity("chair", { role: string, room: belongsTo(() => room) }).rules({
  ...everyone,
  update: [stillChaired],
});
const guest = entity("guest", { name: string, room: belongsTo(() => room) }).rules({ ...everyone, update: [alone] });

describe.each(ALL_DATABASES)("a rule about others further away on %s", (_name, open) => {
  const entities = [org, team, staff, guard, room, chair, guest];
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp<typeof entities>>;
  const ask = (method: string, path: string, body?: unknown) => app.as({ id: "x" }).request(method, path, body);
  const removeAll = (name: string) => app.api.driver.deleteMany(name, { id: { null: false } });

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities, driver: database.driver });
    await app.api.ready;
    const system = app.api.asSystem();
    await system.org.create({ id: "o", name: "O" });
    for (const id of ["t1", "t2"]) await system.team.create({ id, orgId: "o" });
    for (const id of ["r1", "r2", "r3"]) await system.room.create({ id, name: id });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it.each<[string, (id: string) => Promise<{ status: number }>]>([
    ["deletes", (id) => ask("DELETE", `/api/staff/${id}`)],
    ["changes", (id) => ask("PATCH", `/api/staff/${id}`, { role: "user" })],
    ["bulk deletions", (id) => ask("POST", "/api/staff/bulk-delete", { ids: [id] })],
  ])("leaves one administrator of two teams after parallel %s", async (_what, run) => {
    for (let round = 0; round < ROUNDS; round++) {
      await app.api.asSystem().staff.create({ id: "a", role: "admin", teamId: "t1" });
      await app.api.asSystem().staff.create({ id: "b", role: "admin", teamId: "t2" });
      await Promise.all([run("a"), run("b")]);
      expect(await app.api.driver.count("staff", { role: "admin" })).toBe(1);
      await removeAll("staff");
    }
  });

  it("allows one record to be the first of two teams in parallel creates", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const created = ["t1", "t2"].map((teamId) => ask("POST", "/api/staff", { role: "user", teamId }));
      expect((await Promise.all(created)).map(({ status }) => status).sort()).toEqual([201, 403]);
      await removeAll("staff");
    }
  });

  it("leaves one of two records that depend on each other", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const guards = app.api.asSystem().guard;
      await guards.create({ id: "a", active: true });
      await guards.create({ id: "b", active: true, buddyId: "a" });
      await guards.update("a", { buddyId: "b" });
      const changed = ["a", "b"].map((id) => ask("PATCH", `/api/guards/${id}`, { active: false }));
      expect((await Promise.all(changed)).map(({ status }) => status).sort()).toEqual([200, 403]);
      await app.api.driver.updateMany("guard", { active: { null: false } }, { buddyId: null });
      await removeAll("guard");
    }
  });

  it("leaves one record that a rule requires only of changed records", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const id of ["a", "b"]) await app.api.asSystem().chair.create({ id, role: "admin", roomId: "r1" });
      const changed = ["a", "b"].map((id) => ask("PATCH", `/api/chairs/${id}`, { role: "user" }));
      expect((await Promise.all(changed)).map(({ status }) => status).sort()).toEqual([200, 403]);
      await removeAll("chair");
    }
  });

  it("allows one record to move to a group that must be empty", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await app.api.asSystem().guest.create({ id: "a", name: "A", roomId: "r1" });
      await app.api.asSystem().guest.create({ id: "b", name: "B", roomId: "r2" });
      const moved = ["a", "b"].map((id) => ask("PATCH", `/api/guests/${id}`, { roomId: "r3" }));
      expect((await Promise.all(moved)).map(({ status }) => status).sort()).toEqual([200, 403]);
      await removeAll("guest");
    }
  });
});
