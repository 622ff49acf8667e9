import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, bool, defineRule, entity, hasMany, int, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const isMember = defineRule("dagMember", ({ user }) => ({
  folder: { members: { userId: String(user?.id), active: true } },
}));
const unbanned = defineRule("dagUnbanned", () => ({ folder: { NOT: { crews: { bans: { kind: "b" } } } } }));
const openOrMember = defineRule("dagOpen", async ({ record, driver, user }) => {
  if (record === null) return false;
  const setting = await driver.findOne("setting", { id: "open" });
  if (setting?.value === true) return record.text !== null;
  return record.text !== null && { members: { userId: String(user?.id) } };
});
const readers = defineRule("dagReaders", ({ user }) => ({ readers: { userId: String(user?.id) } }));

const ownReader = defineRule("dagOwnReader", ({ user, record }) => record?.reader === user?.id);
const setting = entity("setting", { value: bool }).rules(all);
const folder = entity("folder", {
  name: string.default("one"),
  members: hasMany(() => member),
  pages: hasMany(() => page),
  crews: hasMany(() => crew),
})
  .id(int, { from: "caller" })
  .rules(all);
const member = entity("member", {
  userId: string,
  active: bool,
  folder: belongsTo(() => folder),
})
  .id(["folderId", "userId"])
  .rules(all);
const crew = entity("crew", {
  name: string.default("c"),
  folder: belongsTo(() => folder),
  bans: hasMany(() => ban),
}).rules(all);
const ban = entity("ban", { kind: string, crew: belongsTo(() => crew).onDelete("cascade") })
  .timestamps(false)
  .rules(all);
const page = entity("page", { text: string, folder: belongsTo(() => folder) })
  .id(int)
  .rules({ ...all, create: [isMember] });
const post = entity("post", { text: string, folder: belongsTo(() => folder) }).rules({ ...all, create: [unbanned] });
const door = entity("door", {
  text: string,
  members: hasMany(() => key),
  marks: hasMany(() => mark),
}).rules({ ...all, update: [openOrMember] });
const key = entity("key", { userId: string, door: belongsTo(() => door) }).rules(all);
const mark = entity("mark", { code: string.unique(), door: belongsTo(() => door) })
  .timestamps(false)
  .rules(all);
const secret = entity("secret", {
  text: string,
  code: string.unique().optional(),
  readers: hasMany(() => reader),
  tags: manyToMany(() => tag),
})
  .timestamps(false)
  .rules({ ...all, read: [readers] });
const reader = entity("reader", { userId: string, secret: belongsTo(() => secret) }).rules(all);
const letter = entity("letter", { reader: string, tags: manyToMany(() => tag) }).rules({ ...all, read: [ownReader] });
const tag = entity("tag", {
  name: string,
  secrets: manyToMany(() => secret),
  letters: manyToMany(() => letter),
}).rules(all);

describe.each(ALL_DATABASES)("decisions about a write, on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof opened>;
  const opened = () =>
    createTestApp({
      entities: [setting, folder, member, crew, ban, page, post, door, key, mark, secret, reader, tag, letter],
      driver: database.driver,
    });
  beforeAll(async () => {
    database = await open();
    app = opened();
    await app.api.ready;
  });
  beforeEach(async () => {
    for (const one of [
      "letter",
      "reader",
      "secret",
      "tag",
      "mark",
      "key",
      "door",
      "post",
      "page",
      "ban",
      "crew",
      "member",
      "folder",
      "setting",
    ])
      await app.api.driver.deleteMany(one, { id: { null: false } });
    const system = app.api.asSystem();
    await system.setting.create({ id: "open", value: false });
    await system.folder.create({ id: "7" });
    await system.folder.create({ id: "8" });
    await system.member.create({ folderId: "7", userId: "ann", active: true });
    await system.crew.create({ id: "c", folderId: "7" });
    await system.door.create({ id: "d", text: "old" });
    await system.door.create({ id: "other", text: "old" });
    await system.key.create({ id: "k", userId: "ann", doorId: "d" });
    await system.secret.create({ id: "s", text: "old" });
    await system.reader.create({ id: "r", userId: "ann", secretId: "s" });
    await system.letter.create({ id: "l", reader: "ann" });
    await system.tag.create({ id: "g", name: "g" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ann = () => app.as({ id: "ann" });
  const url = () => String(database.url);

  it.each<[string, object]>([
    ["update", { update: [{ id: "7~ann", active: false }] }],
    ["delete", { delete: ["7~ann"] }],
    ["create", { create: [{ userId: "bob", active: true }] }],
    ["delete and create", { delete: ["7~ann"], create: [{ userId: "bob", active: true }] }],
  ])("do not count a nested %s of a record with a composite id", async (_, members) => {
    const answer = await ann().request("POST", "/api/pages", {
      text: "x",
      folderId: 7,
      folder: { update: { name: "n", members } },
    });
    expect(answer.status).toBe(201);
  });

  it.each<[string, object]>([
    ["update", { update: [{ id: "7~ann", active: true }] }],
    ["create", { create: [{ userId: "ann", active: true }] }],
  ])("are not met by a nested %s of a record with a composite id", async (what, members) => {
    if (what === "update") await app.api.driver.update("member", { id: "7~ann" }, { active: false });
    else await app.api.driver.deleteMany("member", { id: { null: false } });
    const answer = await ann().request("POST", "/api/pages", {
      text: "x",
      folderId: 7,
      folder: { update: { name: "n", members } },
    });
    expect(answer.status).toBe(403);
  });

  it("accept a rule that reads the record for the right to read it", async () => {
    const put = (user: string) => app.as({ id: user }).request("PATCH", "/api/letters/l", { tagsIds: ["g"] });
    expect([(await put("bob")).status, (await put("ann")).status]).toEqual([403, 200]);
  });

  const FOLDER = `select 1 from "folder" where "id" = 7 for no key update`;
  it.runIf(name === "PostgreSQL").each<[string, string, object]>([
    [
      "composite update",
      `update "member" set "active" = false`,
      { members: { update: [{ id: "7~ann", active: true }] } },
    ],
    ["composite create", `delete from "member"`, { members: { create: [{ userId: "ann", active: true }] } }],
  ])("are not met again by a nested %s after a right was revoked", async (_, meanwhile, nested) => {
    const answer = await whileHeld(url(), { held: FOLDER, meanwhile }, () =>
      ann().request("POST", "/api/pages", { text: "x", folderId: 7, folder: { update: { name: "n", ...nested } } }),
    );
    expect(answer.status).toBe(403);
  });

  it.runIf(name === "PostgreSQL")("do not count what a nested deletion deletes after a wait", async () => {
    const meanwhile = `insert into "ban" ("id", "kind", "crewId") values ('x', 'b', 'c')`;
    const folder = { update: { name: "n", crews: { delete: ["c"] } } };
    const answer = await whileHeld(url(), { held: FOLDER, meanwhile }, () =>
      ann().request("POST", "/api/posts", { text: "x", folderId: 7, folder }),
    );
    expect(answer.status).toBe(403);
  });

  it.runIf(name === "PostgreSQL")("forget the condition of an earlier attempt", async () => {
    const held = `insert into "mark" ("id", "code", "doorId") values ('m', 'c', 'other')`;
    const meanwhile = `delete from "key"; update "setting" set "value" = true`;
    const answer = await whileHeld(url(), { held, meanwhile }, () =>
      ann().request("PATCH", "/api/doors/d", { text: "new", marks: { create: [{ code: "c" }] } }),
    );
    expect(answer.status).toBe(200);
  });

  it.runIf(name === "PostgreSQL")("include the right to read a record whose pairs change, after a wait", async () => {
    const held = `insert into "secret" ("id", "text", "code") values ('m', 'c', 'c')`;
    const meanwhile = `delete from "reader"`;
    const answer = await whileHeld(url(), { held, meanwhile }, () =>
      ann().request("PATCH", "/api/secrets/s", { code: "c", tagsIds: ["g"] }),
    );
    expect(answer.status).toBe(403);
  });
});
