import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, bool, defineRule, entity, hasMany, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const group = entity("group", { open: bool }).rules(open);
const inOpen = defineRule("rpwInOpen", () => ({ groups: { open: true } }));
const partInOpen = defineRule("rpwPartInOpen", () => ({ parts: { groups: { open: true } } }));
const doc = entity("doc", { title: string, groups: manyToMany(() => group) }).rules({
  read: everyone,
  update: [inOpen],
});
const whole = entity("whole", { title: string, parts: hasMany(() => part) }).rules({
  read: everyone,
  update: [partInOpen],
});
const part = entity("part", {
  title: string,
  whole: belongsTo(() => whole).optional(),
  groups: manyToMany(() => group),
}).rules(open);

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("pairs that a write adds, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  let tables: readonly string[] = [];
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [group, doc, whole, part], driver: database.driver });
    await app.api.ready;
    const rows = await database.rows("select table_name from information_schema.tables where table_schema = 'public'");
    tables = rows.map((row) => String(row.table_name));
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["doc", "part", "whole", "group"]) await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("group", { id: "closed", open: false, ...times });
    await driver.create("group", { id: "one", open: true, ...times });
    await driver.create("group", { id: "two", open: true, ...times });
    await driver.create("doc", { id: "d", title: "d", ...times });
    await driver.create("whole", { id: "w", title: "w", ...times });
    await driver.create("part", { id: "p", title: "p", wholeId: "w", ...times });
    await driver.link("doc", "groups", "d", ["closed", "one"]);
    await driver.link("part", "groups", "p", ["closed", "one"]);
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const held = `select 1 from "group" where "id" = 'two' for update`;
  const pairsOf = (name: string) => tables.find((table) => table.startsWith("_") && table.toLowerCase().includes(name));
  /** Ends the pair that the rule of the write is met by. */
  const removal = (name: string, id: string) =>
    `delete from "${pairsOf(name)}" where "A" in ('${id}','one') and "B" in ('${id}','one')`;

  it.each([
    ["one verb", { groups: { connect: ["two"] } }],
    ["disconnect, then connect", { groups: { disconnect: ["closed"], connect: ["two"] } }],
    ["connect, then disconnect", { groups: { connect: ["two"], disconnect: ["closed"] } }],
    ["a list and a verb", { groupsIds: ["closed", "one"], groups: { connect: ["two"] } }],
  ])("do not justify this write after a wait: %s", async (_, body) => {
    const write = () => app.as({ id: "ann" }).request("PATCH", "/api/docs/d", body);
    const answer = await whileHeld(database.url, { held, meanwhile: removal("doc", "d") }, write);
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });

  it.each([
    ["nested update connect", { parts: { update: [{ id: "p", groups: { connect: ["two"] } }] } }],
    ["nested update list", { parts: { update: [{ id: "p", groupsIds: ["two", "closed", "one"] }] } }],
    [
      "nested upsert",
      { parts: { upsert: [{ where: { id: "p" }, create: { title: "x" }, update: { groups: { connect: ["two"] } } }] } },
    ],
  ])("of a nested record do not justify the write around it: %s", async (_, body) => {
    const write = () => app.as({ id: "ann" }).request("PATCH", "/api/wholes/w", body);
    const answer = await whileHeld(database.url, { held, meanwhile: removal("part", "p") }, write);
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });
  it("are stored when nothing has changed meanwhile", async () => {
    const both = { groups: { disconnect: ["closed"], connect: ["two"] } };
    const nested = { parts: { update: [{ id: "p", groups: { connect: ["two"] } }] } };
    const ann = app.as({ id: "ann" });
    expect(await ann.request("PATCH", "/api/docs/d", both)).toMatchObject({ status: 200 });
    expect(await ann.request("PATCH", "/api/wholes/w", nested)).toMatchObject({ status: 200 });
  });
});
