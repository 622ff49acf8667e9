import { afterAll, beforeAll, expect, it } from "vitest";
import { embedded, entity, keelson, manyToMany, noopLogger, string, type Where } from "../../../src/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";

// SQLite's parser allows a hundred levels of nesting in a statement.

const user = entity("user", { name: string, groups: manyToMany(() => group).inverse("users") });
const group = entity("group", { name: string, users: manyToMany(() => user).inverse("groups") });
const database = await freshSqliteFile();
const api = keelson({ entities: [user, group], driver: embedded({ file: database.file }), logger: noopLogger });
beforeAll(async () => {
  await api.ready;
  const { id } = await api.asSystem().group.create({ name: "g" });
  await api.asSystem().user.create({ name: "ann", groupsIds: [id] });
});
afterAll(async () => {
  await api.close();
  await database.remove();
});

/** A group that has a user named ann, who has such a group, and so on. */
function nested(levels: number): Where {
  if (levels === 0) return { name: "g" };
  return { AND: [{ name: "g" }, { AND: [{ users: { AND: [{ name: "ann" }, { groups: nested(levels - 1) }] } }] }] };
}

it("conditions follow many relations and back", async () => {
  expect(await api.driver.count("group", nested(3))).toBe(1);
});

it("conditions that are nested too deeply for the database are 400", async () => {
  const found = api.driver.count("group", nested(12));
  await expect(found).rejects.toMatchObject({ status: 400, message: expect.stringContaining("nested too deeply") });
});
