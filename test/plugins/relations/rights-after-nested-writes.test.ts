import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, type Driver, defineRule, entity, hasMany, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// A nested record with a unique value waits for another transaction that stores the same. Meanwhile the caller may lose
// the right to the pairs and references of the record around it.

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const member = defineRule("ranMember", ({ user }) => ({ members: { userId: String(user?.id) } }));
const seen = defineRule("ranSeen", ({ user, record }) => record?.name === "one" && { members: { userId: user?.id } });
const access = entity("access", {
  userId: string,
  team: belongsTo(() => team).optional(),
  folder: belongsTo(() => folder).optional(),
}).rules(all);
const group = { name: string.default("one"), members: hasMany(() => access), notes: manyToMany(() => note) };
const team = entity("team", group);
const folder = entity("folder", { name: string.default("one"), members: hasMany(() => access) });
const note = entity("note", {
  text: string,
  folder: belongsTo(() => folder).optional(),
  teams: manyToMany(() => team),
  marks: hasMany(() => mark),
}).rules(all);
const mark = entity("mark", { code: string.unique(), note: belongsTo(() => note) })
  .timestamps(false)
  .rules(all);

const opened = (rule: typeof member, driver: Driver) =>
  createTestApp({
    entities: [access, team.rules({ ...all, update: [rule] }), folder.rules({ ...all, read: [member] }), note, mark],
    driver,
  });

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("rights to pairs and references, on %s", (_name, open) => {
  describe.each([
    ["a condition", member],
    ["a condition that a rule returns after reading", seen],
  ])("by %s", (_what, rule) => {
    let database: Awaited<ReturnType<typeof open>>;
    let app: ReturnType<typeof opened>;
    beforeAll(async () => {
      database = await open();
      app = opened(rule, database.driver);
      await app.api.ready;
    });
    beforeEach(async () => {
      for (const name of ["mark", "note", "access", "team", "folder"])
        await app.api.driver.deleteMany(name, { id: { null: false } });
      const system = app.api.asSystem();
      await system.team.create({ id: "t" });
      await system.folder.create({ id: "f" });
      await system.access.create({ id: "a", userId: "ann", teamId: "t", folderId: "f" });
      await system.note.create({ id: "n", text: "old" });
      await system.note.create({ id: "other", text: "other" });
    });
    afterAll(async () => {
      await app?.close();
      await database?.drop();
    });

    const held = `insert into "mark" ("id", "code", "noteId") values ('m', 'c', 'other')`;
    const meanwhile = `delete from "access"`;
    const ann = () => app.as({ id: "ann" });
    const create = (data: object) => ann().request("POST", "/api/notes", { text: "new", ...data });
    const change = (data: object) => ann().request("PATCH", "/api/notes/n", { text: "new", ...data });
    const marks = { create: [{ code: "c" }] };

    it.each([
      ["a new record's pairs", create, { teamsIds: ["t"] }, 403],
      ["a changed record's pairs", change, { teamsIds: ["t"] }, 403],
      ["a new record's reference", create, { folderId: "f" }, 400],
      ["a changed record's reference", change, { folderId: "f" }, 400],
    ])("are decided again after nested writes have waited: %s", async (_, write, data, status) => {
      const answer = await whileHeld(database.url, { held, meanwhile }, () => write({ ...data, marks }));
      expect(answer).toMatchObject({ status });
      expect(await app.api.driver.count("note", { text: "new" })).toBe(0);
      expect(await app.api.driver.links("team", "notes", ["t"])).toEqual([]);
    });

    it.each([
      ["a new record", create, 201],
      ["a changed record", change, 200],
    ])("do not end by nested writes: %s", async (_, write, status) => {
      await app.api.asSystem().note.update("n", { folderId: "f" });
      const folder = { update: { members: { delete: ["a"] } } };
      const answer = await write({ folderId: "f", teamsIds: ["t"], folder, marks });
      expect(answer).toMatchObject({ status });
      expect(await app.api.driver.count("access")).toBe(0);
    });
  });
});
