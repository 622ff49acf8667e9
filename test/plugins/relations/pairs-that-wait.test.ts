import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, int, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const mine = defineRule("rpqPairMine", ({ user }) => ({ members: { userId: String(user?.id) } }));
const team = entity("team", { members: hasMany(() => member), projects: manyToMany(() => project) }).rules({
  read: everyone,
  update: [mine],
});
const member = entity("member", { userId: string, team: belongsTo(() => team).optional() }).rules(open);
const project = entity("project", { title: string.default("p"), teams: manyToMany(() => team) }).rules(open);

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("the right to the other end of a pair, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  let table = "";
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [team, member, project], driver: database.driver });
    await app.api.ready;
    const [row] = await database.rows(
      "select table_name from information_schema.tables where table_schema = 'public' and table_name like '\\_%'",
    );
    table = String(row?.table_name);
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["member", "project", "team"]) await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("team", { id: "t", ...times });
    await driver.create("member", { id: "m", userId: "ann", teamId: "t", ...times });
    await driver.create("project", { id: "p", title: "p", ...times });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  it.each([
    ["stored", false],
    ["removed", true],
  ])("is decided again after waiting for the same pair to be %s", async (_, isThere) => {
    const { driver } = app.api;
    if (isThere) await driver.link("project", "teams", "p", ["t"]);
    const held = isThere ? `delete from "${table}"` : `insert into "${table}" ("A", "B") values ('p', 't')`;
    const body = { teamsIds: isThere ? [] : ["t"] };
    const write = () => app.as({ id: "ann" }).request("PATCH", "/api/projects/p", body);
    const meanwhile = `delete from "member"`;
    expect(await whileHeld(database.url, { held, meanwhile }, write)).toMatchObject({ status: 403 });
    expect(await driver.links("project", "teams", ["p"])).toHaveLength(isThere ? 1 : 0);
  });
});

const named = defineRule("rpqPairNamed", ({ user }) => ({ name: String(user?.id) }));
const club = entity("club", { players: manyToMany(() => player) }).rules(open);
const player = entity("player", { name: string, clubs: manyToMany(() => club) })
  .id(int)
  .rules({ ...open, update: [named] });

describe.each(POSTGRES)("the records at the other end of pairs, on %s", (_name, openDatabase) => {
  it("are locked in the order of their ids, as by all other writes of several records", async () => {
    const database = await openDatabase();
    const app = createTestApp({ entities: [club, player], driver: database.driver });
    try {
      await app.api.ready;
      const { driver } = app.api;
      const times = { createdAt: new Date(), updatedAt: new Date() };
      await driver.create("club", { id: "c", ...times });
      for (const id of [9, 10]) await driver.create("player", { id, name: "ann", ...times });
      const write = () => app.as({ id: "ann" }).request("PATCH", "/api/clubs/c", { playersIds: [10, 9] });
      const lock = (id: number): string => `select from "player" where "id" = ${id} for update nowait`;
      expect(await whileHeld(database.url, { held: lock(9), meanwhile: lock(10) }, write)).toMatchObject({
        status: 200,
      });
      expect(await driver.links("club", "players", ["c"])).toHaveLength(2);
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
