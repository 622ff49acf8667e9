import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  all,
  belongsTo,
  bool,
  defineRule,
  entity,
  hasMany,
  manyToMany,
  string,
  type Where,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// On PostgreSQL a transaction that stores a unique value waits for another one that stores the same, and the project by
// which the caller may change a team can be gone by then. The waiting project itself must not take its place.

type Caller = { id: string } | null;
const inTeam = (user: Caller): Where => ({ projects: { lead: String(user?.id) } });
const atHome = (user: Caller): Where => ({ homes: { lead: String(user?.id) } });
const byBadge = (user: Caller): Where => ({ badge: { projects: { lead: String(user?.id) } } });
const opened = defineRule("pawOpened", ({ record }) => record?.open === true);
/** Rules with the same condition, as a rule may return it. */
const rulesWith = (name: string, where: (user: Caller) => Where) => {
  const plain = defineRule(`paw${name}`, ({ user }) => where(user));
  return {
    plain,
    seen: defineRule(`paw${name}Seen`, ({ user, record }) => record?.open === true && where(user)),
    read: defineRule(
      `paw${name}Read`,
      async ({ user, driver }) => (await driver.count("badge", {})) > 0 && where(user),
    ),
    both: all(plain, opened),
  };
};
const cases = Object.entries({ inTeam, atHome, byBadge }).flatMap(([name, where]) =>
  Object.entries(rulesWith(name, where))
    .filter(([way]) => name === "inTeam" || way === "plain" || way === "seen")
    .map(([way, rule]) => ({ name, way, rule })),
);

const everyone = ["everyone"];
const badge = entity("badge", { name: string.optional(), projects: manyToMany(() => project) }).rules({
  read: everyone,
  update: everyone,
});
const project = entity("project", {
  lead: string,
  slug: string.unique(),
  home: belongsTo(() => team)
    .optional()
    .onDelete("setNull"),
  teams: manyToMany(() => team),
  badges: manyToMany(() => badge),
})
  .timestamps(false)
  .rules({ read: everyone, create: everyone, update: everyone });
const fields = { open: bool.default(true), badge: belongsTo(() => badge).optional() };
const lists = { homes: hasMany(() => project), projects: manyToMany(() => project) };
const team = entity("team", { ...fields, ...lists });

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("the right to the other end of a pair, on %s", (_name, open) => {
  describe.each(cases)("by a rule ($name, $way)", ({ name, rule }) => {
    let database: Awaited<ReturnType<typeof open>>;
    let app: ReturnType<typeof createTestApp>;
    beforeAll(async () => {
      database = await open();
      const ruled = team.rules({ read: everyone, update: [rule] });
      app = createTestApp({ entities: [badge, project, ruled], driver: database.driver });
      await app.api.ready;
    });
    beforeEach(async () => {
      const { driver } = app.api;
      for (const entity of ["project", "team", "badge"]) await driver.deleteMany(entity, { id: { null: false } });
      await driver.create("badge", { id: "b", createdAt: new Date(), updatedAt: new Date() });
      await driver.create("team", { id: "t", open: true, badgeId: "b", createdAt: new Date(), updatedAt: new Date() });
      await driver.create("project", { id: "own", lead: "ann", slug: "own", homeId: "t" });
      await driver.link("project", "teams", "own", ["t"]);
      await driver.link("project", "badges", "own", ["b"]);
      await driver.create("project", { id: "p", lead: "ann", slug: "p" });
    });
    afterAll(async () => {
      await app?.close();
      await database?.drop();
    });

    const others = name === "inTeam" ? {} : { homeId: "t", badgesIds: ["b"] };
    const change = (slug: string) =>
      app.as({ id: "ann" }).request("PATCH", "/api/projects/p", { slug, teamsIds: ["t"], ...others });
    const create = (slug: string) =>
      app.as({ id: "ann" }).request("POST", "/api/projects", { lead: "ann", slug, teamsIds: ["t"], ...others });

    it.each([
      ["a new", create, 201],
      ["a changed", change, 200],
    ])("does not come from %s record that has waited", async (_what, write, allowed) => {
      const held = `insert into "project" ("id", "lead", "slug") values ('other', 'bob', 'late')`;
      const meanwhile = `delete from "project" where "id" = 'own'`;
      expect(await whileHeld(database.url, { held, meanwhile }, () => write("late"))).toMatchObject({ status: 403 });
      expect(await app.api.driver.links("team", "projects", ["t"])).toEqual([]);
      expect(await write("late")).toMatchObject({ status: 403 });
      await app.api.driver.create("project", { id: "own", lead: "ann", slug: "own", homeId: "t" });
      await app.api.driver.link("project", "teams", "own", ["t"]);
      await app.api.driver.link("project", "badges", "own", ["b"]);
      expect(await whileHeld(database.url, { held }, () => write("late"))).toMatchObject({ status: allowed });
    });
  });

  it("may come from the record as it was before the change", async () => {
    const database = await open();
    const ruled = team.rules({ read: everyone, update: [rulesWith("Own", inTeam).seen] });
    const app = createTestApp({ entities: [badge, project, ruled], driver: database.driver });
    try {
      await app.api.ready;
      const system = app.api.asSystem();
      await system.team.create({ id: "t" });
      await system.project.create({ id: "p", lead: "ann", slug: "p", teamsIds: ["t"] } as never);
      const held = `insert into "project" ("id", "lead", "slug") values ('other', 'bob', 'late')`;
      const write = () => app.as({ id: "ann" }).request("PATCH", "/api/projects/p", { slug: "late", teamsIds: [] });
      expect(await whileHeld(database.url, { held }, write)).toMatchObject({ status: 200 });
      expect(await app.api.driver.links("team", "projects", ["t"])).toEqual([]);
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
