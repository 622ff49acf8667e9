import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  createPlugin,
  type Driver,
  defineRule,
  entity,
  hasMany,
  importAction,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";
import type { Operation } from "../../../src/plugin.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

const everyone = ["everyone"] as const;
const chief = defineRule("chief", ({ record, user: caller }) => record?.bossId === caller?.id);
const notHidden = defineRule("notHidden", () => ({ name: { ne: "hidden" } }));
const member = defineRule("member", ({ user: caller }) => ({ members: { id: caller?.id ?? "" } }));

const user = entity("user", {
  name: string.unique(),
  teams: manyToMany(() => team),
  circles: manyToMany(() => circle),
  clubs: manyToMany(() => club),
  badges: manyToMany(() => badge),
  secrets: manyToMany(() => secret),
  follows: manyToMany(() => user).inverse("followers"),
  followers: manyToMany(() => user).inverse("follows"),
  friends: manyToMany(() => user),
})
  .ownedBy("id")
  .rules({ read: everyone, create: everyone, update: ["owner"] })
  .actions({ import: importAction({ upsertBy: "name" }) });
const team = entity("team", { name: string, boss: belongsTo(() => user), members: manyToMany(() => user) })
  .ownedBy("boss")
  .rules({ read: everyone, create: everyone, update: ["owner"] });
/** Its rule reads the record. */
const circle = entity("circle", { boss: belongsTo(() => user), members: manyToMany(() => user) }).rules({
  read: everyone,
  update: [chief],
});
/** Its rule uses the pairs. */
const club = entity("club", { name: string, members: manyToMany(() => user) }).rules({
  read: everyone,
  update: [member],
});
/** Does not declare the relation. */
const badge = entity("badge", { name: string }).rules({ read: [notHidden] });
const secret = entity("secret", { name: string, holders: manyToMany(() => user) });
const inRedGroup = defineRule("inRedGroup", () => ({ groups: { name: "red" } }));
/** All callers may update it while a red group refers to it. */
const guest = entity("guest", {
  groups: hasMany(() => group).inverse("guest"),
  linked: manyToMany(() => group).inverse("guests"),
}).rules({ read: everyone, update: [inRedGroup] });
const group = entity("group", {
  name: string,
  guest: belongsTo(() => guest)
    .optional()
    .inverse("groups"),
  guests: manyToMany(() => guest).inverse("linked"),
}).rules({ read: everyone, create: everyone, update: everyone });
/** All callers may update it, and administrators may read it. */
const box = entity("box", { name: string, holders: manyToMany(() => team) }).rules({
  create: everyone,
  update: everyone,
});
const ofClub = defineRule("ofClub", ({ user: caller }) => ({ club: { members: { id: caller?.id ?? "" } } }));
/** Created by members of its club. */
const vault = entity("vault", {
  club: belongsTo(() => club),
  cellars: manyToMany(() => cellar).inverse("vaults"),
}).rules({
  create: [ofClub],
});
const cellar = entity("cellar", { vaults: manyToMany(() => vault).inverse("cellars") })
  .hideForbidden()
  .rules({ read: everyone });
const entities = [user, team, circle, club, badge, secret, guest, group, box, vault, cellar] as const;

const rules = [chief, notHidden, member, inRedGroup, ofClub];
const appOn = (driver: Driver) => keelson({ entities, driver, logger: noopLogger, rules });

describe.each(ALL_DATABASES)("a many-to-many pair on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let api: ReturnType<typeof appOn>;
  beforeAll(async () => {
    database = await open();
    api = appOn(database.driver);
    await api.ready;
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });
  beforeEach(async () => {
    const { driver } = database;
    for (const { name: stored } of entities.toReversed().map((one) => one.build()))
      await driver.deleteMany(stored, { id: { null: false } });
    const system = api.asSystem();
    for (const id of ["ann", "bob", "cid"]) await system.user.create({ id, name: id });
    await system.team.create({ id: "ann's", name: "A", bossId: "ann", membersIds: ["bob"] });
    await system.team.create({ id: "bob's", name: "B", bossId: "bob" });
    await system.team.create({ id: "cid's", name: "C", bossId: "cid", membersIds: ["ann"] });
    await system.circle.create({ id: "ann's", bossId: "ann" });
    await system.circle.create({ id: "bob's", bossId: "bob" });
    await system.club.create({ id: "ann's", name: "A", membersIds: ["ann"] });
    await system.club.create({ id: "bob's", name: "B", membersIds: ["bob"] });
    await system.badge.create({ id: "gold", name: "Gold" });
    await system.secret.create({ id: "s", name: "S" });
    for (const id of ["green", "red"]) await system.guest.create({ id });
    await system.group.create({ id: "blue", name: "blue" });
    await system.group.create({ id: "red", name: "red", guestId: "red" });
    await system.box.create({ id: "full", name: "F", holdersIds: ["bob's"] });
    await system.box.create({ id: "empty", name: "E" });
    await system.cellar.create({ id: "deep" });
  });

  const ann = () => api.as({ id: "ann" }).user;
  const of = async (relation: string, id = "ann") =>
    (await database.driver.links("user", relation, [id])).map(({ target }) => target);
  const FORBIDDEN = { status: 403, code: "FORBIDDEN" };

  it.each(["teams", "circles", "clubs"])("requires the update right on the added target: %s", async (relation) => {
    const before = await of(relation);
    const key = `${relation}Ids`;
    await expect(ann().update("ann", { name: "New", [key]: [...before, "bob's"] })).rejects.toMatchObject(FORBIDDEN);
    expect(await of(relation)).toEqual(before);
    expect(await api.asSystem().user.get("ann")).toMatchObject({ name: "ann" });
    await ann().update("ann", { name: "New", [key]: [...before, "ann's"] });
    expect(await of(relation)).toEqual([...new Set(["ann's", ...before])].sort());
  });

  it("requires it on the removed target too, by the rules before the change", async () => {
    await expect(ann().update("ann", { teamsIds: [] })).rejects.toMatchObject(FORBIDDEN);
    expect(await of("teams")).toEqual(["cid's"]);
    await ann().update("ann", { clubsIds: [] }); // members may update the club
    expect(await of("clubs")).toEqual([]);
  });

  it("stays unchanged when the list that was read is sent back", async () => {
    await ann().update("ann", { name: "New", teamsIds: ["cid's"] });
    expect(await of("teams")).toEqual(["cid's"]);
  });

  it("requires the update right on both sides, whichever side writes it", async () => {
    const teams = api.as({ id: "ann" }).team;
    await expect(teams.update("ann's", { membersIds: ["bob", "cid"] })).rejects.toMatchObject(FORBIDDEN);
    await teams.update("ann's", { membersIds: ["ann", "bob"] });
    expect(await of("teams")).toEqual(["ann's", "cid's"]);
  });

  it("requires it with new records, which otherwise are not stored", async () => {
    const create = (teamsIds: string[]) => ann().create({ name: "New", teamsIds });
    await expect(create(["ann's", "bob's"])).rejects.toMatchObject(FORBIDDEN);
    expect(await database.driver.count("user", { name: "New" })).toBe(0);
    expect(await of("teams", (await create(["ann's"])).id)).toEqual(["ann's"]);
  });

  it("requires it in imports, which store nothing of refused rows", async () => {
    const row = (name: string, ...teamsIds: string[]) => ({ name, teamsIds });
    const rows = [row("one", "ann's"), row("two", "bob's"), row("three"), row("ann", "cid's", "bob's"), row("ann")];
    const result = await ann().import([...rows, row("ann", "ann's", "cid's")]);
    expect(result).toMatchObject({ created: 2, updated: 1, failed: [{ row: 2 }, { row: 4 }, { row: 5 }] });
    const users = await database.driver.findMany("user", { where: { id: { nin: ["bob", "cid"] } } });
    expect(users.map(({ name }) => name).sort()).toEqual(["ann", "one", "three"]);
    expect(await of("teams")).toEqual(["ann's", "cid's"]);
  });

  it("is not allowed because of its own record, new or changed", async () => {
    const groups = api.as({ id: "ann" }).group;
    const grants = { name: "red", guestId: "green" };
    await expect(groups.create({ ...grants, guestsIds: ["green", "red"] })).rejects.toMatchObject(FORBIDDEN);
    await expect(groups.update("blue", { ...grants, guestsIds: ["green"] })).rejects.toMatchObject(FORBIDDEN);
    expect(await database.driver.count("group", { guestId: "green" })).toBe(0);
    await groups.update("blue", { guestId: "green", guestsIds: ["red"] });
    expect(await database.driver.links("group", "guests", ["blue"])).toEqual([{ source: "blue", target: "red" }]);
  });

  it("is decided after the create rules, whose refusal comes first", async () => {
    const create = (clubId: string) => api.as({ id: "ann" }).vault.create({ clubId, cellarsIds: ["deep"] });
    await expect(create("bob's")).rejects.toMatchObject(FORBIDDEN);
    await expect(create("ann's")).rejects.toMatchObject({ status: 404 }); // the cellar responds with 404 for forbidden changes
    expect(await database.driver.count("vault")).toBe(0);
  });

  it("may be written with a new record, and later only by callers who may read it", async () => {
    const boxes = api.as({ id: "ann" }).box;
    for (const holdersIds of [[], ["bob's"], ["ann's"]])
      for (const id of ["full", "empty"])
        await expect(boxes.update(id, { name: "N", holdersIds })).rejects.toMatchObject({
          ...FORBIDDEN,
          message: "Changing relations of a record takes the right to read it as well",
        });
    expect(await database.driver.count("box", { name: "N" })).toBe(0);
    await boxes.create({ name: "N", holdersIds: ["ann's"] });
    const [stored] = await database.driver.findMany("box", { where: { name: "N" } });
    expect(await database.driver.links("box", "holders", [String(stored?.id)])).toMatchObject([{ target: "ann's" }]);
  });

  it("may be removed from more records than a list may have", async () => {
    const now = new Date();
    const many = Array.from({ length: 1_100 }, (_, index) => ({
      id: `b${index}`,
      name: "B",
      createdAt: now,
      updatedAt: now,
    }));
    for (const data of many) await database.driver.create("badge", data);
    await database.driver.link(
      user.build(),
      "badges",
      "ann",
      many.map(({ id }) => id),
    );
    await ann().update("ann", { badgesIds: ["gold"] });
    expect(await of("badges")).toEqual(["gold"]);
  });

  it("is decided target by target between records of one entity", async () => {
    await expect(ann().update("ann", { followsIds: ["bob"] })).rejects.toMatchObject(FORBIDDEN);
    await ann().update("ann", { followsIds: ["ann"] });
    expect(await of("followers")).toEqual(["ann"]);
  });

  it("is guarded by one side if only that side declares it", async () => {
    await ann().update("ann", { badgesIds: ["gold"], friendsIds: ["bob"] });
    expect([await of("badges"), await of("friends")]).toEqual([["gold"], ["bob"]]);
  });

  it("with an unreadable target is refused like one with a missing target", async () => {
    const refused = (id: string) => ({ status: 400, errors: { secretsIds: `secret "${id}" does not exist` } });
    for (const id of ["s", "missing"])
      await expect(ann().update("ann", { secretsIds: [id] })).rejects.toMatchObject(refused(id));
  });

  it.runIf(name !== "PostgreSQL")("with a target that becomes hidden while the write waits is refused", async () => {
    let refused: Promise<void> | undefined;
    await database.driver.transaction(async (transaction) => {
      await transaction.update("badge", { id: "gold" }, { name: "hidden" });
      refused = expect(ann().update("ann", { badgesIds: ["gold"] })).rejects.toMatchObject({ status: 400 });
      for (let turns = 0; turns < 50; turns++) await nextTurn();
    });
    await refused;
    expect(await of("badges")).toEqual([]);
  });

  it("may always be changed by the system", async () => {
    await api.asSystem().user.update("ann", { teamsIds: ["ann's"], secretsIds: ["s"] });
    expect([await of("teams"), await of("secrets")]).toEqual([["ann's"], ["s"]]);
  });

  it.runIf(name === "PostgreSQL")("is decided after waiting for the target", async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin");
    await other.query(`update "team" set "bossId" = 'bob' where "id" = 'ann''s'`);
    const adding = ann().update("ann", { teamsIds: ["ann's", "cid's"] });
    const waiting = `select 1 from pg_locks where not granted and pid in
      (select pid from pg_stat_activity where datname = current_database())`;
    const refused = expect(adding).rejects.toMatchObject(FORBIDDEN);
    while ((await other.query(waiting)).rows.length === 0) await nextTurn();
    await other.query("commit");
    await other.end();
    await refused;
    expect(await of("teams")).toEqual(["cid's"]);
  });
});

it("is decided by the gate also if another plugin locks the record", async () => {
  const held: unknown[] = [];
  const waiting = createPlugin({
    id: "acme/waiting",
    hooks: { "operation:protect": (operation) => operation.whenHeld(({ name }) => void held.push(name)) },
  });
  const driver = memoryDriver();
  const api = keelson({ entities, driver, logger: noopLogger, rules, plugins: [waiting] });
  await api.ready;
  await api.asSystem().badge.create({ id: "gold", name: "Gold" });
  await api.asSystem().user.create({ id: "ann", name: "Ann", badgesIds: ["gold"] });
  expect(held).toEqual(["Gold", "Ann"]);
  expect(await driver.links("user", "badges", ["ann"])).toEqual([{ source: "ann", target: "gold" }]);
  await api.close();
});

describe("a hook that decides about each record of the other side", () => {
  const post = entity("post", { tags: manyToMany(() => tag) }).rules({ read: everyone, update: everyone });
  const tag = entity("tag", { posts: manyToMany(() => post) }).rules({ read: everyone, update: everyone });
  const refuse = (operation: Operation): void => {
    if (operation.id === "frozen") operation.decision.allowed = false;
  };
  const guard = (operation: Operation): void => {
    if (operation.id === "frozen") operation.decision.guard = () => false;
  };
  it.each<[string, (operation: Operation) => void]>([
    [
      "it sets `apart`",
      (operation) => void (operation.ids === undefined ? refuse(operation) : (operation.apart = true)),
    ],
    ["it asks for the id", refuse],
    ["it sets a guard for one of them", guard],
  ])("is called for each of them if %s", async (_, decide) => {
    const frozen = createPlugin({
      id: "acme/frozen",
      setup: ({ hooks }) =>
        hooks.on("operation:authorize", decide, {
          appliesTo: ({ name }, kind) => name === "tag" && kind === "update",
        }),
    });
    const app = createTestApp({ entities: [post, tag], plugins: [frozen], logger: noopLogger });
    const system = app.api.asSystem();
    await system.post.create({ id: "p" });
    for (const id of ["frozen", "free", "other"]) await system.tag.create({ id });
    const patch = async (path: string, body: object): Promise<number> =>
      (await app.as({ id: "u" }).request("PATCH", `/api/${path}`, body)).status;
    expect(await patch("tags/frozen", { postsIds: ["p"] })).toBe(403);
    expect(await patch("posts/p", { tagsIds: ["frozen"] })).toBe(403);
    expect(await patch("posts/p", { tagsIds: ["free", "frozen"] })).toBe(403);
    expect(await patch("posts/p", { tagsIds: ["free", "other"] })).toBe(200);
    await app.close();
  });
});
