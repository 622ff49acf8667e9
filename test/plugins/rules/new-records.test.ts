import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { withMiddleware } from "../../../src/gate/index.ts";
import {
  all,
  belongsTo,
  bool,
  cloneAction,
  type Driver,
  defineRule,
  entity,
  hasMany,
  importAction,
  json,
  manyToMany,
  memoryDriver,
  string,
  type Where,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES, type SqlDatabase } from "../../support/sql-databases.ts";

const me = (user: { id: string } | null): string => String(user?.id);
const ownsOrg = defineRule("nrOwnsOrg", ({ user }) => ({ org: { memberships: { userId: me(user), role: "owner" } } }));
const notGuest = defineRule("nrNotGuest", ({ record }) => record?.role !== "guest");
const never = defineRule("nrNever", ({ record }) => record?.id === "none");
const inOpenParent = defineRule("nrInOpenParent", () => ({ OR: [{ parent: { open: true } }, { name: "root" }] }));
const inNoTeam = defineRule("nrInNoTeam", () => ({ NOT: { teams: {} } }));
const inTeam = defineRule("nrInTeam", () => ({ teams: { open: true } }));
const bySecret = defineRule("nrBySecret", ({ user }) => ({ secret: "mine", org: { code: me(user) } }));
const inWritable = defineRule("nrInWritable", () => ({ project: { flags: { path: ["writable"], eq: true } } }));
const inOpen = defineRule("nrInOpen", () => ({ project: { flags: { path: ["open"], eq: true } } }));
const everyone = { read: ["everyone"] };

const org = entity("org", {
  code: string.encrypted({ searchable: true }).optional(),
  memberships: hasMany(() => membership),
}).rules(everyone);
const membership = entity("membership", {
  userId: string,
  role: string,
  slug: string.optional().unique(),
  org: belongsTo(() => org),
})
  .rules({ ...everyone, create: [ownsOrg] })
  .actions({ import: importAction(), clone: cloneAction });
const either = entity("either", { slug: string.unique(), org: belongsTo(() => org) })
  .rules({ ...everyone, create: [ownsOrg, never] })
  .actions({ import: importAction() });
const both = entity("both", { role: string, slug: string.unique(), org: belongsTo(() => org) }).rules({
  ...everyone,
  create: [all(ownsOrg, notGuest)],
});
const folder = entity("folder", {
  name: string,
  open: bool.default(true),
  parent: belongsTo(() => folder)
    .optional()
    .inverse("children"),
  children: hasMany(() => folder).inverse("parent"),
}).rules({ ...everyone, create: [inOpenParent] });
const team = entity("team", { open: bool.default(true) }).rules(everyone);
const teamed = entity("teamed", { name: string, teams: manyToMany(() => team) })
  .plural("teamed")
  .rules({ ...everyone, create: [inTeam] });
const lonely = entity("lonely", { name: string, teams: manyToMany(() => team) })
  .plural("lonely")
  .rules({ ...everyone, create: [inNoTeam] });
const letter = entity("letter", {
  secret: string.encrypted({ searchable: true }),
  org: belongsTo(() => org),
}).rules({ ...everyone, create: [bySecret] });
const project = entity("project", { flags: json }).rules(everyone);
const task = entity("task", { title: string, project: belongsTo(() => project) })
  .rules({ ...everyone, create: [all(inOpen, inWritable)] })
  .actions({ import: importAction() });
const entities = [project, task, org, membership, either, both, folder, team, teamed, lonely, letter];
const encryption = { key: "5".repeat(64) };

/** A driver that does not support conditions on creates. */
const undeclared = (driver: Driver): Driver =>
  withMiddleware(driver, (statement, next) => next(statement), { capabilities: { conditionalInserts: false } });
const databases: readonly (readonly [string, () => Promise<Pick<SqlDatabase, "driver" | "drop">>])[] = [
  ["memory", async () => ({ driver: memoryDriver(), drop: async () => {} })],
  ["a driver without the ability", async () => ({ driver: undeclared(memoryDriver()), drop: async () => {} })],
  ...SQL_DATABASES,
];

describe.each(databases)("a rule about a new record, on %s", (_, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp<typeof entities>>;
  const post = async (id: string, path: string, body: unknown) =>
    (await app.as({ id }).request("POST", `/api/${path}`, body)).status;
  const stored = (name: string, where?: Where): Promise<number> => app.api.driver.count(name, where);

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities, driver: database.driver, encryption });
    await app.api.ready;
  });
  /** ann owns o1, and o2 has no owner. */
  beforeEach(async () => {
    const { driver } = app.api;
    for (const name of ["letter", "folder", "both", "either", "membership", "org", "team"])
      await driver.deleteMany(name, { id: { null: false } });
    const { org: orgs, membership: memberships, folder: folders, team: teams } = app.api.asSystem();
    for (const [id, code] of [
      ["o1", "ann"],
      ["o2", null],
    ] as const)
      await orgs.create({ id, code });
    await memberships.create({ orgId: "o1", userId: "ann", role: "owner", slug: "taken" });
    await folders.create({ id: "shut", name: "shut", open: false });
    await teams.create({ id: "t1" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  it("is not satisfied by the new record itself", async () => {
    expect(await post("eve", "memberships", { orgId: "o1", userId: "eve", role: "owner" })).toBe(403);
    expect(await post("eve", "memberships", { orgId: "o2", userId: "eve", role: "owner" })).toBe(403);
    expect(await stored("membership")).toBe(1);
    expect(await post("ann", "memberships", { orgId: "o1", userId: "eve", role: "owner" })).toBe(201);
    expect(await post("eve", "memberships", { orgId: "o1", userId: "bob", role: "guest" })).toBe(201);
  });

  it("sees only stored records through a relation of the entity to itself", async () => {
    expect(await post("ann", "folders", { name: "root" })).toBe(201);
    expect(await post("ann", "folders", { name: "in", parentId: "shut" })).toBe(403);
    const [root] = await app.api.driver.findMany("folder", { where: { name: "root" } });
    expect(await post("ann", "folders", { name: "in", parentId: root?.id })).toBe(201);
    expect(await post("ann", "folders", { name: "in", parentId: "none" })).toBe(400);
  });

  it("sees neither records that refer to the new one nor its own links", async () => {
    expect(await post("ann", "teamed", { name: "x", teamsIds: ["t1"] })).toBe(403);
    expect(await post("ann", "lonely", { name: "x", teamsIds: ["t1"] })).toBe(201);
    expect(await stored("teamed")).toBe(0);
    expect(await stored("lonely", { teams: {} })).toBe(1);
  });

  it("is decided before unique values, together with any other rule", async () => {
    const records = [
      ["memberships", { orgId: "o1", userId: "ann", role: "x" }],
      ["eithers", { orgId: "o1" }],
      ["boths", { orgId: "o1", role: "x" }],
    ] as const;
    for (const [path, record] of records) {
      await post("ann", path, { ...record, slug: "taken" });
      expect(await post("ann", path, { ...record, slug: "taken" }), path).toBe(409);
      expect(await post("eve", path, { ...record, slug: "taken" }), path).toBe(403);
      expect(await post("eve", path, { ...record, slug: "free" }), path).toBe(403);
    }
    expect(await post("ann", "boths", { slug: "taken", orgId: "o1", role: "guest" })).toBe(403);
  });

  it("applies to clones", async () => {
    const { id: own } = await app.api.asSystem().membership.create({ orgId: "o1", userId: "bob", role: "x" });
    const clone = (id: string) => post(id, `memberships/${own}/clone`, {});
    expect([await clone("eve"), await clone("ann")]).toEqual([403, 201]);
  });

  it("applies to imports, whose report matches what they store", async () => {
    const rows = [
      { orgId: "o1", userId: "eve", role: "owner" },
      { orgId: "o1", userId: "eve", role: "owner", slug: "taken" },
    ];
    const refused = await app.as({ id: "eve" }).request("POST", "/api/memberships/import", rows);
    expect(refused.body).toMatchObject({ created: 0, failed: [{ row: 1 }, { row: 2 }] });
    expect(JSON.stringify(refused.body)).not.toContain("taken");
    expect(await stored("membership")).toBe(1);
    const done = await app
      .as({ id: "ann" })
      .request("POST", "/api/memberships/import", [...rows, { ...rows[0], orgId: "o2" }]);
    expect(done.body).toMatchObject({ created: 1, failed: [{ row: 2 }, { row: 3 }] });
    expect(await stored("membership", { userId: "eve" })).toBe(1);
  });

  it("compares each path of a JSON field, in imports too", async () => {
    await app.api.asSystem().project.create({ id: "p", flags: { open: true, writable: false } });
    expect(await post("ann", "tasks", { title: "one", projectId: "p" })).toBe(403);
    await post("ann", "tasks/import", [{ title: "two", projectId: "p" }]);
    expect(await stored("task")).toBe(0);
  });

  it("compares encrypted values of the record and of related ones", async () => {
    expect(await post("ann", "letters", { secret: "mine", orgId: "o1" })).toBe(201);
    expect(await post("ann", "letters", { secret: "other", orgId: "o1" })).toBe(403);
    expect(await post("ann", "letters", { secret: "mine", orgId: "o2" })).toBe(403);
    expect(await post("eve", "letters", { secret: "mine", orgId: "o1" })).toBe(403);
  });

  it("is decided for each of several creates that share a statement", async () => {
    const tries = ["ann", "eve", "ann", "eve", "ann"].map((id, at) =>
      post(id, "memberships", { orgId: "o1", userId: `u${at}`, role: "guest" }),
    );
    expect(await Promise.all(tries)).toEqual([201, 403, 201, 403, 201]);
    expect(await stored("membership")).toBe(4);
  });
});
