import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  all,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  int,
  string,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { recordStatements } from "../../support/record-statements.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

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

const desk = entity("desk", { seats: hasMany(() => seat), stools: hasMany(() => stool) })
  .id(int)
  .rules({ read: ["everyone"], update: ["everyone"] });
const led = defineRule("lotLed", () => ({ desk: { seats: { role: "lead" } } }));
const ledRead = defineRule("lotLedRead", ({ record }) => record !== null && { desk: { stools: { role: "lead" } } });
const bulk = { bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction };
const seat = entity("seat", { role: string, desk: belongsTo(() => desk) })
  .rules({ read: ["everyone"], create: [led], update: [led], delete: [led] })
  .actions(bulk);
const stool = entity("stool", { role: string, desk: belongsTo(() => desk) })
  .rules({ read: ["everyone"], update: [ledRead] })
  .actions(bulk);

const POSTGRES = ALL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("records that several writes lead to, on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [desk, seat, stool], driver: database.driver });
    await app.api.ready;
    const { driver } = app.api;
    const times = { createdAt: new Date(), updatedAt: new Date() };
    for (const id of [8, 9, 10]) await driver.create("desk", { id, ...times });
    for (const entity of ["seat", "stool"])
      for (const [id, deskId] of Object.entries({ a: "10", b: "9", c: "10", d: "8" }))
        await driver.create(entity, { id, role: id === "d" ? "guest" : "lead", deskId, ...times });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const ask = (method: "DELETE" | "PATCH" | "POST" | "PUT", path: string, body?: object) =>
    app.as({ id: "x" }).request(method, `/api/${path}`, body);
  const lock = (table: string, id: string | number): string =>
    `select from "${table}" where "id" = '${id}' for update nowait`;
  const data = { role: "lead" };

  it.each([
    ["the old and new ones of one record", "PATCH", "seats/c", { deskId: 9 }],
    ["those of all records of a bulk", "PUT", "seats/bulk", { ids: ["a", "b"], data }],
    ["also with ids that no record has", "PUT", "seats/bulk", { ids: ["A".repeat(300), "a", "b"], data }],
    ["also if the first record is refused", "PUT", "seats/bulk", { ids: ["d", "a", "b"], data }],
    ["also under a rule that reads the record", "PUT", "stools/bulk", { ids: ["a", "b"], data }],
  ] as const)("are locked in the order of their ids: %s", async (_case, method, path, body) => {
    const during = { held: lock("desk", 9), meanwhile: lock("desk", 10) };
    const write = () => ask(method, path, body);
    expect(await whileHeld(String(database.url), during, write)).toMatchObject({ status: 200 });
  });

  it.each([
    ["an update", "PATCH", "seats/d", data, { status: 403 }],
    ["a bulk update", "PUT", "seats/bulk", { ids: ["d"], data }, { status: 200, body: { count: 0 } }],
    ["a bulk deletion", "POST", "seats/bulk-delete", { ids: ["d"] }, { status: 200, body: { count: 0 } }],
    ["a deletion", "DELETE", "seats/d", undefined, { status: 403 }],
    ["a create", "POST", "seats", { role: "lead", deskId: 8 }, { status: 403 }],
  ] as const)("are not locked by %s that the rules refuse", async (_case, method, path, body, answer) => {
    const other = new pg.Client({ connectionString: String(database.url) });
    await other.connect();
    try {
      await other.query("begin");
      await other.query(lock("seat", "d"));
      await other.query(lock("desk", 8));
      expect(await ask(method, path, body)).toMatchObject(answer);
    } finally {
      await other.end();
    }
  });
});

const skilled = defineRule(
  "lotSkilled",
  ({ record }) => record !== null && { crew: { firm: { crews: { tasks: { skill: String(record.skill) } } } } },
);
const firm = entity("firm", { crews: hasMany(() => crew) }).rules({ read: ["everyone"] });
const crew = entity("crew", { firm: belongsTo(() => firm), tasks: hasMany(() => task) }).rules({ read: ["everyone"] });
const task = entity("task", { skill: string, title: string.default("x"), crew: belongsTo(() => crew) })
  .rules({ read: ["everyone"], update: [skilled] })
  .actions(bulk);

describe.each(POSTGRES)("a bulk whose rule returns another condition for each record, on %s", (_name, open) => {
  it("takes a number of statements in proportion to its records", async () => {
    const database = await open();
    const driver = recordStatements(database.driver);
    const app = createTestApp({ entities: [firm, crew, task], driver });
    try {
      await app.api.ready;
      const times = { createdAt: new Date(), updatedAt: new Date() };
      await app.api.driver.create("firm", { id: "f", ...times });
      await app.api.driver.create("crew", { id: "c", firmId: "f", ...times });
      const ids = Array.from({ length: 20 }, (_, index) => `k${index}`);
      for (const id of ids) await app.api.driver.create("task", { id, skill: id, title: "x", crewId: "c", ...times });
      const counts: number[] = [];
      for (const most of [5, 10, 20]) {
        driver.statements.length = 0;
        const body = { ids: ids.slice(0, most), data: { title: "y" } };
        expect(await app.as({ id: "x" }).request("PUT", "/api/tasks/bulk", body)).toMatchObject({
          body: { count: most },
        });
        counts.push(driver.statements.length / most);
      }
      expect(Math.max(...counts)).toBeLessThan(1.2 * Math.min(...counts));
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
