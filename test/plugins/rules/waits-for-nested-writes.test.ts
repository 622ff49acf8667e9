import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, keelson, noopLogger, string } from "../../../src/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const member = defineRule("wnwMember", ({ user }) => ({
  folder: { name: "open", members: { userId: String(user?.id) } },
}));
const folder = entity("folder", {
  name: string,
  members: hasMany(() => access),
  notes: hasMany(() => note),
  seals: hasMany(() => seal),
}).rules(all);
const access = entity("access", { userId: string, folder: belongsTo(() => folder).optional() }).rules(all);
const note = entity("note", {
  text: string,
  folder: belongsTo(() => folder),
  marks: hasMany(() => mark),
}).rules({ read: everyone, create: [member] });
const mark = entity("mark", { code: string.unique(), note: belongsTo(() => note) }).rules(all);
const unsealed = defineRule("wnwUnsealed", () => ({ folder: { NOT: { seals: { folder: { id: "f" } } } } }));
const seal = entity("seal", { folder: belongsTo(() => folder) }).rules({ read: everyone, create: [unsealed] });
const entities = [folder, access, note, mark, seal] as const;

describe.each(ALL_DATABASES)("the rule of a new record with nested writes, on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let api: ReturnType<typeof opened>;
  const opened = () => keelson({ entities, driver: database.driver, logger: noopLogger });
  beforeAll(async () => {
    database = await open();
    api = opened();
    await api.ready;
  });
  beforeEach(async () => {
    for (const { name: stored } of [mark, note, access, seal, folder].map((one) => one.build()))
      await api.driver.deleteMany(stored, { id: { null: false } });
    await api.asSystem().folder.create({ id: "f", name: "open" });
    await api.asSystem().access.create({ id: "a", userId: "ann", folderId: "f" });
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });
  const create = (nested: object) => api.as({ id: "ann" }).note.create({ text: "late", folderId: "f", ...nested });
  const rename = (given: string) => ({ folder: { update: { name: given } } });

  it.each<[string, object]>([
    ["a change", rename("closed")],
    ["a record that leaves", { folder: { update: { members: { disconnect: ["a"] } } } }],
    ["a deletion", { folder: { update: { members: { delete: ["a"] } } } }],
    ["a new record", { folder: { update: { members: { create: [{ userId: "bob" }] } } } }],
  ])("does not count what they change themselves: %s", async (_, nested) => {
    await create(nested);
    expect(await api.driver.count("note")).toBe(1);
  });

  it("leaves out the new record", async () => {
    const create = () => api.as({ id: "ann" }).seal.create({ folderId: "f", folder: { update: { name: "sealed" } } });
    await create();
    await expect(create()).rejects.toMatchObject({ status: 403 });
    expect(await api.driver.count("seal")).toBe(1);
  });

  const FOLDER = `select 1 from "folder" where "id" = 'f' for no key update`;
  const CODE = `insert into "mark" ("id", "code", "noteId", "createdAt", "updatedAt") select 'q', 'c', "id", now(), now() from "note"`;
  it.runIf(name === "PostgreSQL").each<[string, string, object]>([
    ["for a record that it depends on", FOLDER, rename("open")],
    [
      "for another one, after such a record has changed",
      CODE,
      { ...rename("new"), marks: { create: [{ code: "c" }] } },
    ],
  ])("is decided again after they have waited %s", async (_, held, nested) => {
    await api.asSystem().note.create({ id: "n", text: "n", folderId: "f" });
    const meanwhile = `delete from "access" where "userId" = 'ann'`;
    const url = String(database.url);
    await expect(whileHeld(url, { held, meanwhile }, () => create(nested))).rejects.toMatchObject({ status: 403 });
    expect(await api.driver.count("note")).toBe(1);
  });
});
