import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, manyToMany, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { SQL_DATABASES } from "../support/sql-databases.ts";
import { whileHeld } from "../support/while-held.ts";

const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const mine = defineRule("a10Mine", ({ user }) => ({ members: { userId: String(user?.id) } }));
const team = entity("team", { members: hasMany(() => member), projects: manyToMany(() => project) }).rules({
  read: everyone,
  update: [mine],
});
const vault = entity("vault", {
  members: hasMany(() => member),
  projects: hasMany(() => project),
  pairs: manyToMany(() => project),
}).rules({ read: [mine], update: everyone });
const member = entity("member", {
  userId: string,
  team: belongsTo(() => team).optional(),
  vault: belongsTo(() => vault).optional(),
}).rules(open);
const project = entity("project", {
  title: string.default("p"),
  teams: manyToMany(() => team),
  vault: belongsTo(() => vault).optional(),
  vaults: manyToMany(() => vault),
  marks: hasMany(() => mark),
}).rules(open);
const mark = entity("mark", { code: string.unique(), project: belongsTo(() => project).optional() }).rules(open);

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("rights to what a record leads to, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [team, vault, member, project, mark], driver: database.driver });
    await app.api.ready;
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["mark", "member", "project", "team", "vault"])
      await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("team", { id: "t", ...times });
    await driver.create("vault", { id: "v", ...times });
    await driver.create("member", { id: "m", userId: "ann", teamId: "t", vaultId: "v", ...times });
    await driver.create("project", { id: "p", title: "p", ...times });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const held = `insert into "mark" ("id","code","createdAt","updatedAt") values ('x','c',now(),now())`;
  const meanwhile = `delete from "member"`;
  const marks = { create: [{ code: "c" }] };
  it.each([
    ["POST", "/api/projects", { teamsIds: ["t"] }],
    ["PATCH", "/api/projects/p", { teamsIds: ["t"] }],
    ["POST", "/api/projects", { vaultId: "v" }],
    ["PATCH", "/api/projects/p", { vaultId: "v" }],
    ["POST", "/api/projects", { vaultsIds: ["v"] }],
    ["PATCH", "/api/projects/p", { vaultsIds: ["v"] }],
  ])("are decided again after nested writes have waited: %s %s %j", async (method, path, body) => {
    const write = () => app.as({ id: "ann" }).request(method, path, { ...body, marks });
    const answer = await whileHeld(database.url, { held, meanwhile }, write);
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });
});
