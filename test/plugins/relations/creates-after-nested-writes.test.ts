import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bool,
  defineRule,
  entity,
  hasMany,
  int,
  keelson,
  manyToMany,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };

const byBadge = defineRule("canwBadge", ({ user }) => ({
  folder: { members: { userId: String(user?.id), badge: { valid: true } } },
}));
const byTeam = defineRule("canwTeam", ({ user }) => ({ folder: { teams: { players: { userId: String(user?.id) } } } }));
const byTag = defineRule("canwTag", () => ({ folder: { teams: { tags: { name: "vip" } } } }));
const quota = defineRule("canwQuota", async ({ record, driver }) => {
  if (record === null) return false;
  return (await driver.count("quoted", { folderId: record.folderId })) < 1;
});

const folder = entity("folder", {
  name: string.default("one"),
  badges: hasMany(() => badge),
  members: hasMany(() => member),
  teams: hasMany(() => team),
}).rules(all);
const badge = entity("badge", { valid: bool, folder: belongsTo(() => folder) }).rules(all);
const member = entity("member", {
  userId: string,
  rank: int.default(0),
  badge: belongsTo(() => badge),
  folder: belongsTo(() => folder),
}).rules(all);
const team = entity("team", {
  name: string.default("t"),
  folder: belongsTo(() => folder),
  players: hasMany(() => player),
  tags: manyToMany(() => tag),
}).rules(all);
const player = entity("player", { userId: string, team: belongsTo(() => team).onDelete("cascade") }).rules(all);
const tag = entity("tag", { name: string, teams: manyToMany(() => team), quoteds: manyToMany(() => quoted) }).rules(
  all,
);
const badged = entity("badged", { text: string, folder: belongsTo(() => folder) }).rules({ ...all, create: [byBadge] });
const teamed = entity("teamed", { text: string, folder: belongsTo(() => folder) }).rules({ ...all, create: [byTeam] });
const tagged = entity("tagged", { text: string, folder: belongsTo(() => folder) }).rules({ ...all, create: [byTag] });
const quoted = entity("quoted", {
  text: string,
  folder: belongsTo(() => folder),
  marks: hasMany(() => mark),
  tags: manyToMany(() => tag),
}).rules({ ...all, create: [quota] });
const mark = entity("mark", { code: string, quoted: belongsTo(() => quoted) }).rules(all);
const entities = [folder, badge, member, team, player, tag, badged, teamed, tagged, quoted, mark] as const;
const inOrder = ["mark", "quoted", "tagged", "teamed", "badged", "player", "team", "tag", "member", "badge", "folder"];

describe.each(ALL_DATABASES)("a create with nested writes, on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  const opened = () => keelson({ entities, driver: database.driver, logger: noopLogger });
  let api: ReturnType<typeof opened>;
  beforeAll(async () => {
    database = await open();
    api = opened();
    await api.ready;
  });
  beforeEach(async () => {
    for (const one of inOrder) await api.driver.deleteMany(one, { id: { null: false } });
    const system = api.asSystem();
    await system.folder.create({ id: "f" });
    await system.badge.create({ id: "b", valid: true, folderId: "f" });
    await system.member.create({ id: "a", userId: "ann", badgeId: "b", folderId: "f" });
    await system.tag.create({ id: "vip", name: "vip" });
    await system.team.create({ id: "t", folderId: "f", tagsIds: ["vip"] } as never);
    await system.player.create({ id: "p", userId: "ann", teamId: "t" });
  });
  afterAll(async () => {
    await api?.close();
    await database?.drop();
  });
  const ann = () => api.as({ id: "ann" });

  it("is not refused by a nested change", async () => {
    await ann().badged.create({
      text: "x",
      folderId: "f",
      folder: { update: { badges: { update: [{ id: "b", valid: false }] } } },
    });
    expect(await api.driver.count("badged")).toBe(1);
  });

  it("is not refused by two nested changes of records that refer to each other", async () => {
    await ann().badged.create({
      text: "x",
      folderId: "f",
      folder: {
        update: { badges: { update: [{ id: "b", valid: false }] }, members: { update: [{ id: "a", rank: 1 }] } },
      },
    });
    expect(await api.driver.count("badged")).toBe(1);
  });

  it("is not refused by a nested deletion that deletes others with it", async () => {
    await ann().teamed.create({ text: "x", folderId: "f", folder: { update: { teams: { delete: ["t"] } } } });
    expect(await api.driver.count("teamed")).toBe(1);
  });

  it("is not refused by a nested deletion of a record with pairs", async () => {
    await ann().tagged.create({ text: "x", folderId: "f", folder: { update: { teams: { delete: ["t"] } } } });
    expect(await api.driver.count("tagged")).toBe(1);
  });

  it.each<[string, object]>([
    ["alone", {}],
    ["nested records", { marks: { create: [{ code: "c" }] } }],
    ["pairs", { tagsIds: ["vip"] }],
  ])("does not count itself in a rule that asks the driver: %s", async (_, more) => {
    await ann().quoted.create({ text: "x", folderId: "f", ...more });
    expect(await api.driver.count("quoted")).toBe(1);
    await expect(ann().quoted.create({ text: "y", folderId: "f", ...more })).rejects.toMatchObject({ status: 403 });
  });

  const FOLDER = `select 1 from "folder" where "id" = 'f' for no key update`;
  it.runIf(name === "PostgreSQL").each<[string, object]>([
    ["one", {}],
    ["two", { members: { update: [{ id: "a", rank: 1 }] } }],
  ])("is not justified by nested changes after it waited: %s", async (_, more) => {
    const meanwhile = `update "badge" set "valid" = false`;
    const folder = { update: { name: "new", badges: { update: [{ id: "b", valid: true }] }, ...more } };
    const answer = whileHeld(String(database.url), { held: FOLDER, meanwhile }, () =>
      ann().badged.create({ text: "x", folderId: "f", folder }),
    );
    await expect(answer).rejects.toMatchObject({ status: 403 });
    expect(await api.driver.count("badged")).toBe(0);
  });
});
