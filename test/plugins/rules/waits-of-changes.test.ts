import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bool,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  manyToMany,
  string,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// A change may wait while its pairs and nested records are stored. If the caller loses the right meanwhile, what the change
// itself has made true must not take its place.

type Caller = { id: string } | null;
const leads = (user: Caller) => ({ lead: String(user?.id) });
const conditions = {
  led: (user: Caller) => ({ org: { projects: leads(user) } }),
  paired: (user: Caller) => ({ org: { teams: { projects: leads(user) } } }),
  near: (user: Caller) => ({ teams: { projects: leads(user) } }),
  joined: (user: Caller) => ({ org: { projects: { members: { userId: String(user?.id) } } } }),
};
const cases = Object.entries(conditions).flatMap(([name, where]) => [
  [name, "a condition", defineRule(`wocOf${name}`, ({ user }) => where(user))] as const,
  [name, "a look", defineRule(`wocSeen${name}`, ({ user, record }) => record?.open === true && where(user))] as const,
]);

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone };
const org = entity("org", { projects: hasMany(() => project), teams: hasMany(() => team) })
  .timestamps(false)
  .rules(all);
const badge = entity("badge", {}).timestamps(false).rules(all);
const mark = entity("mark", { code: string.unique(), project: belongsTo(() => project).onDelete("cascade") })
  .timestamps(false)
  .rules(all);
const member = entity("member", { userId: string, project: belongsTo(() => project).onDelete("cascade") })
  .timestamps(false)
  .rules(all);
const team = entity("team", { org: belongsTo(() => org), projects: manyToMany(() => project) })
  .timestamps(false)
  .rules(all);
const project = entity("project", {
  lead: string,
  open: bool.default(true),
  org: belongsTo(() => org),
  badges: manyToMany(() => badge),
  teams: manyToMany(() => team),
  marks: hasMany(() => mark),
  members: hasMany(() => member),
}).timestamps(false);

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("the rule of a changed record, on %s", (_name, open) => {
  describe.each(cases)("that depends on others (%s, %s)", (_where, _way, rule) => {
    let database: Awaited<ReturnType<typeof open>>;
    let app: ReturnType<typeof createTestApp>;
    beforeAll(async () => {
      database = await open();
      const ruled = project.rules({ read: everyone, update: [rule] }).actions({ bulk: bulkUpdateAction });
      app = createTestApp({ entities: [org, badge, mark, member, team, ruled], driver: database.driver });
      await app.api.ready;
    });
    beforeEach(async () => {
      const { driver } = app.api;
      for (const name of ["mark", "member", "project", "team", "org", "badge"])
        await driver.deleteMany(name, { id: { null: false } });
      await driver.create("org", { id: "o" });
      for (const id of ["b", "c"]) await driver.create("badge", { id });
      for (const id of ["t", "u"]) await driver.create("team", { id, orgId: "o" });
      for (const [id, lead] of Object.entries({ p: "bob", own: "ann", other: "bob" }))
        await driver.create("project", { id, lead, open: true, orgId: "o" });
      await driver.link("project", "teams", "own", ["t"]);
      await driver.link("project", "teams", "p", ["t"]);
      await driver.link("project", "badges", "p", ["c"]);
      await driver.create("member", { id: "m", userId: "ann", projectId: "own" });
    });
    afterAll(async () => {
      await app?.close();
      await database?.drop();
    });

    const vouching = { lead: "ann", teamsIds: ["t", "u"], members: { create: [{ userId: "ann" }] } };
    const BADGE = `select 1 from "badge" where "id" = 'b' for update`;
    const CODE = `insert into "mark" ("id", "code", "projectId") values ('q', 'late', 'other')`;
    const meanwhile = `delete from "project" where "id" = 'own'`;
    const PAIR = `select 1 from "_project_badges" for update`;
    const waits = [
      [PAIR, { lead: "ann", badgesIds: [] }],
      [BADGE, { ...vouching, badgesIds: ["b"] }],
      [CODE, { ...vouching, marks: { create: [{ code: "late" }] } }],
    ] as const;
    const ask = (method: string, path: string, body: unknown) => app.as({ id: "ann" }).request(method, path, body);
    const patch = (body: object) => ask("PATCH", "/api/projects/p", body);
    const stored = () => app.api.driver.findOne("project", { id: "p" });

    it.each(waits)("is decided again after a wait: %s", async (held, body) => {
      expect(await whileHeld(database.url, { held, meanwhile }, () => patch(body))).toMatchObject({ status: 403 });
      expect(await stored()).toMatchObject({ lead: "bob" });
      expect(await app.api.driver.count("member", { projectId: "p" })).toBe(0);
    });

    it.each(waits)("is decided again in a bulk update: %s", async (held, data) => {
      const change = () => ask("PUT", "/api/projects/bulk", { ids: ["p"], data });
      expect(await whileHeld(database.url, { held, meanwhile }, change)).not.toMatchObject({ body: { count: 1 } });
      expect(await stored()).toMatchObject({ lead: "bob" });
    });

    it.each(waits)("allows the change otherwise: %s", async (held, body) => {
      expect(await whileHeld(database.url, { held }, () => patch(body))).toMatchObject({ status: 200 });
      expect(await stored()).toMatchObject({ lead: "ann" });
    });
  });

  it("may end by the change itself only with 403, and may be replaced by it", async () => {
    const database = await open();
    const own = project.rules({ read: everyone, update: [defineRule("wocOwn", () => ({ teams: { orgId: "o" } }))] });
    const app = createTestApp({ entities: [org, badge, mark, member, team, own], driver: database.driver });
    try {
      await app.api.ready;
      const { driver } = app.api;
      for (const id of ["o", "away"]) await driver.create("org", { id });
      for (const [id, orgId] of Object.entries({ t: "o", u: "o", v: "away" }))
        await driver.create("team", { id, orgId });
      await driver.create("project", { id: "p", lead: "bob", open: true, orgId: "o" });
      await driver.link("project", "teams", "p", ["t"]);
      const change = async (body: object) =>
        (await app.as({ id: "ann" }).request("PATCH", "/api/projects/p", body)).status;
      expect(await change({ teamsIds: ["u"] })).toBe(200);
      expect(await change({ teamsIds: ["v"] })).toBe(403);
      expect(await change({ teamsIds: [] })).toBe(403);
      expect(await change({ teamsIds: [], marks: { create: [{ code: "c" }] } })).toBe(403);
      expect(await driver.links("project", "teams", ["p"])).toEqual([{ source: "p", target: "u" }]);
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
