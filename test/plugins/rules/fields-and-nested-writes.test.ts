import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const ofMember = defineRule("rfnOfMember", ({ user }) => ({ folder: { members: { userId: String(user?.id) } } }));
const folder = entity("folder", { name: string, members: hasMany(() => access), pages: hasMany(() => page) }).rules(
  open,
);
const access = entity("access", { userId: string, folder: belongsTo(() => folder).optional() }).rules(open);
const page = entity("page", {
  text: string,
  stamp: string.optional().writable(ofMember),
  folder: belongsTo(() => folder),
}).rules(open);

describe.each(ALL_DATABASES)("the right to a field, on %s", (name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [folder, access, page], driver: database.driver });
    await app.api.ready;
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["page", "access", "folder"]) await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("folder", { id: "f", name: "f", ...times });
    await driver.create("access", { id: "a", userId: "ann", folderId: "f", ...times });
    await driver.create("page", { id: "p", text: "p", folderId: "f", ...times });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const writes = [
    ["POST", "/api/pages", { text: "x", folderId: "f", stamp: "mine" }],
    ["PATCH", "/api/pages/p", { stamp: "mine" }],
  ] as const;
  it.each(writes)("does not end by nested writes of the same request: %s", async (method, path, body) => {
    const nested = { folder: { update: { members: { delete: ["a"] } } } };
    const answer = await app.as({ id: "ann" }).request(method, path, { ...body, ...nested });
    expect(answer.body).toMatchObject({ stamp: "mine" });
  });
  it.runIf(name === "PostgreSQL").each(writes)(
    "does not come back by nested writes after a wait: %s",
    async (method, path, body) => {
      const nested = { folder: { update: { name: "g", members: { create: [{ userId: "ann" }] } } } };
      const held = `select 1 from "folder" where id = 'f' for no key update`;
      const meanwhile = `delete from "access"`;
      const write = () => app.as({ id: "ann" }).request(method, path, { ...body, ...nested });
      const answer = await whileHeld(String(database.url), { held, meanwhile }, write);
      expect(answer.body).not.toMatchObject({ stamp: "mine" });
    },
  );
});
