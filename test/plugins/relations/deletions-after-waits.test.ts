import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, datetime, defineRule, entity, hasMany, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// Nested deletions take records and pairs along on which the rule of the outer record depends.
const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const member = defineRule("memberBeforeDeletions", ({ user }) => ({
  folder: { members: { userId: String(user?.id) } },
}));
const unsealed = defineRule("unsealedBeforeDeletions", () => ({ NOT: { members: { userId: "seal" } } }));
const befriended = defineRule("befriendedBeforeDeletions", () => ({ author: { friends: { name: "vip" } } }));
const folder = entity("folder", {
  name: string,
  members: hasMany(() => access),
  groups: hasMany(() => group),
  archives: hasMany(() => archive),
})
  .timestamps(false)
  .rules({ ...open, update: [unsealed] });
const group = entity("group", { name: string, folder: belongsTo(() => folder) })
  .timestamps(false)
  .rules(open);
const archive = entity("archive", { deletedAt: datetime.optional(), folder: belongsTo(() => folder) })
  .timestamps(false)
  .softDelete()
  .rules(open);
const access = entity("access", {
  userId: string,
  folder: belongsTo(() => folder),
  group: belongsTo(() => group)
    .optional()
    .onDelete("cascade"),
  archive: belongsTo(() => archive)
    .optional()
    .onDelete("cascade"),
})
  .timestamps(false)
  .rules(open);
const note = entity("note", { text: string, folder: belongsTo(() => folder) })
  .timestamps(false)
  .rules({ read: everyone, create: [member] });
const team = entity("team", { name: string, members: hasMany(() => person) })
  .timestamps(false)
  .rules(open);
const person = entity("person", {
  name: string,
  team: belongsTo(() => team).optional(),
  friends: manyToMany(() => person),
})
  .timestamps(false)
  .rules(open);
const post = entity("post", { author: belongsTo(() => person), team: belongsTo(() => team) })
  .timestamps(false)
  .rules({ read: everyone, create: [befriended] });

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("what a nested deletion takes along, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    const entities = [folder, group, archive, access, note, team, person, post];
    app = createTestApp({ entities, driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["post", "note", "access", "group", "archive", "folder", "person", "team"])
      await driver.deleteMany(one, { id: { null: false } });
    await driver.create("folder", { id: "f", name: "f" });
    await driver.create("group", { id: "g", name: "g", folderId: "f" });
    await driver.create("archive", { id: "h", folderId: "f" });
    await driver.create("access", { id: "a", userId: "ann", folderId: "f", groupId: "g" });
  });
  const ann = { id: "ann" };

  it.each([
    ["nothing changes", "select 1", 201],
    ["it changes", `update access set "userId" = 'bob' where id = 'a'`, 403],
    ["it is deleted", "delete from access where id = 'a'", 403],
  ])("counts as it is when the write reaches it: %s", async (_, held, status) => {
    const body = { text: "late", folderId: "f", folder: { update: { groups: { delete: ["g"] } } } };
    const create = () => app.as(ann).request("POST", "/api/notes", body);
    expect(await whileHeld(String(database.url), { held, end: "commit" }, create)).toMatchObject({ status });
    expect(await app.api.driver.count("note")).toBe(status === 201 ? 1 : 0);
  });
  it("counts if it goes with a record of an entity with soft deletion", async () => {
    await app.api.driver.update("access", { id: "a" }, { archiveId: "h" });
    const body = { text: "new", folderId: "f", folder: { update: { archives: { delete: ["h"] } } } };
    expect((await app.as(ann).request("POST", "/api/notes", body)).status).toBe(201);
    const held = {
      held: "select 1 from archive where id = 'h2' for update",
      next: `insert into access (id, "userId", "folderId", "archiveId") values ('s', 'seal', 'f', 'h2')`,
      end: "commit",
    } as const;
    await app.api.driver.create("archive", { id: "h2", folderId: "f" });
    const change = { name: "new", archives: { delete: ["h2"] } };
    const patch = () => app.as(ann).request("PATCH", "/api/folders/f", change);
    expect((await whileHeld(String(database.url), held, patch)).status).toBe(403);
    expect(await app.api.driver.findOne("folder", { id: "f" })).toMatchObject({ name: "f" });
  });
  it("includes pairs of a relation to its own entity", async () => {
    const { driver } = app.api;
    await driver.create("team", { id: "t", name: "t" });
    await driver.create("person", { id: "p", name: "p" });
    await driver.create("person", { id: "v", name: "vip", teamId: "t" });
    const body = { authorId: "p", teamId: "t", team: { update: { members: { delete: ["v"] } } } };
    expect((await app.as(ann).request("POST", "/api/posts", body)).status).toBe(403);
    await driver.link("person", "friends", "p", ["v"]);
    expect((await app.as(ann).request("POST", "/api/posts", body)).status).toBe(201);
  });
});
