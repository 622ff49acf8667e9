import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const isMember = defineRule("pdaMember", ({ user }) => ({ members: { userId: String(user?.id) } }));
const isReader = defineRule("pdaReader", ({ user }) => ({ folder: { members: { userId: String(user?.id) } } }));
const inPlay = defineRule("pdaInPlay", ({ user }) => ({ teams: { players: { userId: String(user?.id) } } }));
const hasRoom = defineRule(
  "pdaRoom",
  async ({ record, driver }) =>
    record !== null && (await driver.links("roomy", "docs", [String(record.id)])).length < 1,
);

const access = entity("access", {
  userId: string,
  team: belongsTo(() => team).optional(),
  folder: belongsTo(() => folder).optional(),
}).rules(all);
const team = entity("team", {
  name: string.default("one"),
  members: hasMany(() => access),
  notes: manyToMany(() => note),
}).rules({ ...all, read: [isMember] });
const folder = entity("folder", {
  name: string.default("one"),
  members: hasMany(() => access),
  secrets: hasMany(() => secret),
}).rules(all);
const arena = entity("arena", {
  name: string.default("x"),
  teams: hasMany(() => squad),
}).rules({ ...all, read: [inPlay] });
const squad = entity("squad", {
  arena: belongsTo(() => arena).optional(),
  players: hasMany(() => player),
}).rules(all);
const player = entity("player", { userId: string, team: belongsTo(() => squad).onDelete("cascade") }).rules(all);
const game = entity("game", { text: string, arena: belongsTo(() => arena) }).rules(all);
const note = entity("note", {
  text: string,
  teams: manyToMany(() => team),
  marks: hasMany(() => mark),
}).rules(all);
const secret = entity("secret", {
  text: string,
  folder: belongsTo(() => folder),
  tags: manyToMany(() => tag),
  marks: hasMany(() => secretMark),
}).rules({ ...all, read: [isReader] });
const tag = entity("tag", { name: string, secrets: manyToMany(() => secret) }).rules(all);
const mark = entity("mark", { code: string.unique(), note: belongsTo(() => note) })
  .timestamps(false)
  .rules(all);
const secretMark = entity("secretMark", { code: string.unique(), secret: belongsTo(() => secret) })
  .timestamps(false)
  .rules(all);
const roomy = entity("roomy", { name: string.default("r"), docs: manyToMany(() => doc) }).rules({
  ...all,
  update: [hasRoom],
});
const doc = entity("doc", { text: string, roomies: manyToMany(() => roomy) }).rules(all);
describe.each(ALL_DATABASES)("rights to pairs and references, decided again, on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof opened>;
  const opened = () =>
    createTestApp({
      entities: [access, team, folder, note, secret, tag, mark, secretMark, roomy, doc, game, player, squad, arena],
      driver: database.driver,
    });
  beforeAll(async () => {
    database = await open();
    app = opened();
    await app.api.ready;
  });
  beforeEach(async () => {
    for (const one of [
      "game",
      "player",
      "squad",
      "arena",
      "secretMark",
      "mark",
      "secret",
      "note",
      "access",
      "team",
      "folder",
      "tag",
      "doc",
      "roomy",
    ])
      await app.api.driver.deleteMany(one, { id: { null: false } });
    const system = app.api.asSystem();
    await system.team.create({ id: "t" });
    await system.folder.create({ id: "f" });
    await system.access.create({ id: "a", userId: "ann", teamId: "t", folderId: "f" });
    await system.note.create({ id: "n", text: "old", teamsIds: ["t"] });
    await system.note.create({ id: "other", text: "other" });
    await system.secret.create({ id: "s", text: "old", folderId: "f" });
    await system.secret.create({ id: "sother", text: "old", folderId: "f" });
    await system.tag.create({ id: "g", name: "g" });
    await system.roomy.create({ id: "r" });
    await system.doc.create({ id: "d", text: "old" });
    await system.arena.create({ id: "ar" });
    await system.squad.create({ id: "sq", arenaId: "ar" });
    await system.player.create({ id: "pl", userId: "ann", teamId: "sq" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ann = () => app.as({ id: "ann" });

  it.each([
    ["PATCH", "/api/docs/d", 200],
    ["POST", "/api/docs", 201],
  ])("do not end by the pair itself if a rule asks the driver: %s", async (method, path, status) => {
    const answer = await ann().request(method as "POST", path, { text: "new", roomiesIds: ["r"] });
    expect(answer).toMatchObject({ status });
  });

  it("do not end by what a nested deletion deletes", async () => {
    const answer = await ann().request("POST", "/api/games", {
      text: "new",
      arenaId: "ar",
      arena: { update: { teams: { delete: ["sq"] } } },
    });
    expect(answer).toMatchObject({ status: 201 });
  });

  const held = `insert into "mark" ("id", "code", "noteId") values ('m', 'c', 'other')`;
  const heldSecret = `insert into "secretMark" ("id", "code", "secretId") values ('m', 'c', 'sother')`;
  const meanwhile = `delete from "access"`;
  it.runIf(name === "PostgreSQL").each([
    ["set", { teamsIds: [] }],
    ["disconnect", { teams: { disconnect: ["t"] } }],
  ])("keep pairs that have become hidden: %s", async (_, data) => {
    await whileHeld(String(database.url), { held, meanwhile }, () =>
      ann().request("PATCH", "/api/notes/n", { text: "new", ...data, marks: { create: [{ code: "c" }] } }),
    );
    expect(await app.api.driver.links("team", "notes", ["t"])).toHaveLength(1);
  });

  it.runIf(name === "PostgreSQL")("include the right to read the record", async () => {
    await whileHeld(String(database.url), { held: heldSecret, meanwhile }, () =>
      ann().request("PATCH", "/api/secrets/s", { tagsIds: ["g"], marks: { create: [{ code: "c" }] } }),
    );
    expect(await app.api.driver.links("tag", "secrets", ["g"])).toHaveLength(0);
  });
});
