import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { all, belongsTo, bulkDeleteAction, defineRule, entity, hasMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

// Rules that ask for other records of the same entity, decided for two requests at once: each would find the other's record.

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
  ])("leaves one administrator where %s come at once", async (_what, run) => {
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

  it("lets one record be the first where creates come at once", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const create = (userId: string) =>
        as("x").request("POST", "/api/members", { userId, role: "user", groupId: "g" });
      const statuses = (await Promise.all([create("a"), create("b")])).map(({ status }) => status);
      expect(statuses.sort()).toEqual([201, 403]);
      await app.api.driver.deleteMany("member", { id: { null: false } });
    }
  });
});
