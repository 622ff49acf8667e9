import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  int,
  manyToMany,
  string,
} from "../../../src/index.ts";
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
const club = entity("club", { name: string.default("ann"), players: manyToMany(() => player) }).rules({
  ...open,
  update: [named],
});
const player = entity("player", {
  name: string,
  clubs: manyToMany(() => club),
  follows: manyToMany(() => player).inverse("followers"),
  followers: manyToMany(() => player).inverse("follows"),
})
  .id(int)
  .rules({ ...open, update: [named] })
  .actions({ bulkUpdate: bulkUpdateAction });

describe.each(POSTGRES)("the records at both ends of pairs, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [club, player], driver: database.driver });
    await app.api.ready;
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["player", "club"]) await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("club", { id: "c", name: "ann", ...times });
    for (const id of [9, 10]) await driver.create("player", { id, name: "ann", ...times });
    await driver.create("player", { id: 11, name: "eve", ...times });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const lock = (table: string, id: string | number): string =>
    `select from "${table}" where "id" = '${id}' for update nowait`;
  const ask = (method: "PATCH" | "POST" | "PUT", path: string, body: object) =>
    app.as({ id: "ann" }).request(method, `/api/${path}`, body);

  it.each<[string, string, string, () => Promise<{ status: number }>]>([
    ["several", lock("player", 9), lock("player", 10), () => ask("PATCH", "clubs/c", { playersIds: [10, 9] })],
    ["one side", lock("club", "c"), lock("player", 9), () => ask("PATCH", "players/9", { clubsIds: ["c"] })],
    ["the same entity", lock("player", 9), lock("player", 10), () => ask("PATCH", "players/10", { followsIds: [9] })],
    [
      "a nested connect",
      lock("club", "c"),
      lock("player", 9),
      () => ask("PATCH", "players/9", { clubs: { connect: ["c"] } }),
    ],
    [
      "a bulk",
      lock("player", 9),
      lock("player", 10),
      () => ask("PUT", "players/bulk", { ids: [10, 9], data: { followersIds: [10] } }),
    ],
    [
      "a bulk on one side",
      lock("club", "c"),
      lock("player", 9),
      () => ask("PUT", "players/bulk", { ids: [10, 9], data: { clubsIds: ["c"] } }),
    ],
  ])("are locked by entity and id before any is changed: %s", async (_case, held, meanwhile, write) => {
    expect(await whileHeld(database.url, { held, meanwhile }, write)).toMatchObject({ status: 200 });
  });

  it("are locked by a new attempt if the pairs have changed before the locks", async () => {
    const { driver } = app.api;
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("club", { id: "b", name: "ann", ...times });
    await driver.link("player", "clubs", "9", ["c"]);
    const [row] = await database.rows(
      "select table_name from information_schema.tables where table_schema = 'public' and table_name like '\\_%club%'",
    );
    const meanwhile = `insert into "${row?.table_name}" ("A", "B") values ('b', 9)`;
    const write = () => ask("PATCH", "players/9", { clubsIds: [] });
    expect(await whileHeld(database.url, { held: lock("club", "c"), meanwhile }, write)).toMatchObject({ status: 200 });
    expect(await driver.links("player", "clubs", ["9"])).toEqual([]);
  });

  it.each([
    ["change the record", "PATCH", "players/11", { clubsIds: ["c"] }],
    ["change one of the ends of a new record", "POST", "clubs", { playersIds: [9, 11] }],
  ] as const)("are not locked for a caller who may not %s", async (_case, method, path, body) => {
    const write = () => ask(method, path, body);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query("begin");
      await other.query(lock("club", "c"));
      await other.query(lock("player", 9));
      expect(await write()).toMatchObject({ status: 403 });
    } finally {
      await other.end();
    }
  });

  it("do not deadlock when both ends are written at once", async () => {
    const deadlocks = async (): Promise<number> =>
      Number(
        (await database.rows("select deadlocks from pg_stat_database where datname = current_database()"))[0]
          ?.deadlocks,
      );
    const before = await deadlocks();
    for (let round = 0; round < 10; round++) {
      const statuses = await Promise.all([
        ask("PATCH", "players/9", { clubs: { connect: ["c"] } }),
        ask("PATCH", "clubs/c", { players: { connect: ["9"] } }),
        ask("PATCH", "players/10", { follows: { connect: ["9"] } }),
        ask("PATCH", "players/9", { follows: { connect: ["10"] } }),
      ]);
      expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      await app.api.driver.unlink("club", "players", "c", ["9"]);
      await app.api.driver.unlink("player", "follows", "9", ["10"]);
      await app.api.driver.unlink("player", "follows", "10", ["9"]);
    }
    expect(await deadlocks()).toBe(before);
  });
});
