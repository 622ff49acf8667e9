import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, selfRef, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const visible = defineRule("shownAfterWaits", () => ({ state: "shown" }));
const member = defineRule("memberAfterWaits", ({ user }) => ({ members: { userId: String(user?.id) } }));
const published = defineRule("publishedAfterWaits", () => ({ name: "published" }));
const order = entity("order", {
  name: string,
  lines: hasMany(() => line),
  parts: hasMany(() => part),
  customer: belongsTo(() => customer).optional(),
  members: hasMany(() => access),
}).rules({
  ...open,
  read: [member, published],
});
const access = entity("access", { userId: string, order: belongsTo(() => order) }).rules(open);
const customer = entity("customer", { name: string }).rules(open);
const line = entity("line", { sku: string, state: string, order: belongsTo(() => order).optional() }).rules({
  ...open,
  read: [visible],
});
const shown = defineRule("shownRecordAfterWaits", ({ record }) => record?.state === "shown");
const part = entity("part", { sku: string, state: string, order: belongsTo(() => order).optional() })
  .timestamps(false)
  .rules({ ...open, read: [shown] });

const childOfOpen = defineRule("childOfOpenAfterWaits", () => ({ parent: { state: "open" } }));
const step = entity("step", { state: string, parent: selfRef().optional() }).rules({ ...open, read: [childOfOpen] });

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("nested writes after waits, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [order, line, part, customer, access, step], driver: database.driver });
    await app.api.ready;
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["line", "part", "access", "order", "customer"])
      await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("customer", { id: "c", name: "c", ...times });
    await driver.create("order", { id: "o", name: "o", customerId: "c", ...times });
    await driver.create("access", { id: "a", userId: "ann", orderId: "o", ...times });
    await driver.create("line", { id: "l", sku: "l", state: "shown", orderId: "o", ...times });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const patch = (body: unknown) => app.as({ id: "ann" }).request("PATCH", "/api/orders/o", body);

  it("refuses a line that may not be read", async () => {
    await app.api.driver.update("line", { id: "l" }, { state: "hidden" });
    expect((await patch({ lines: { update: [{ id: "l", sku: "new" }] } })).status).toBe(404);
  });
  const verbs: readonly (readonly [string, number, unknown])[] = [
    ["update", 404, { update: [{ id: "l", sku: "new" }] }],
    ["delete", 404, { delete: ["l"] }],
    ["disconnect", 404, { disconnect: ["l"] }],
    [
      "upsert",
      200,
      { upsert: [{ where: { sku: "l" }, create: { sku: "l", state: "shown" }, update: { sku: "new" } }] },
    ],
    ["set", 404, { set: [] }],
  ];
  it.each(verbs)("does not change a line that is hidden while the write waits: %s", async (_, status, lines) => {
    const held = `update "line" set "state" = 'hidden' where id = 'l'`;
    const answer = await whileHeld(String(database.url), { held, end: "commit" }, () => patch({ lines }));
    const stored = await app.api.driver.findOne("line", { id: "l" });
    expect([answer.status, stored]).toMatchObject([status, { sku: "l", orderId: "o" }]);
  });
  it.each(verbs.slice(0, 3))("does so if a rule looks at the record: %s", async (_, status, parts) => {
    await app.api.driver.create("part", { id: "l", sku: "l", state: "shown", orderId: "o" });
    const held = `update "part" set "state" = 'hidden' where id = 'l'`;
    const answer = await whileHeld(String(database.url), { held, end: "commit" }, () => patch({ parts }));
    const stored = await app.api.driver.findOne("part", { id: "l" });
    expect([answer.status, stored]).toMatchObject([status, { sku: "l", orderId: "o" }]);
  });
  it("refuses a customer of an order that may not be read after the wait", async () => {
    const held = `select 1 from "customer" where id = 'c' for no key update`;
    const meanwhile = `delete from "access"`;
    const answer = await whileHeld(String(database.url), { held, meanwhile }, () =>
      patch({ customer: { update: { name: "new" } } }),
    );
    expect([answer.status, await app.api.driver.findOne("customer", { id: "c" })]).toMatchObject([403, { name: "c" }]);
  });

  it("changes a customer of an order that becomes readable by the same request", async () => {
    await app.api.driver.deleteMany("access", { userId: "ann" });
    expect((await patch({ name: "other", customer: { update: { name: "new" } } })).status).toBe(403);
    expect((await patch({ name: "published", customer: { update: { name: "new" } } })).status).toBe(200);
    expect(await app.api.driver.findOne("customer", { id: "c" })).toMatchObject({ name: "new" });
  });

  it("changes a record through its reference to itself, even if that ends the right to read it", async () => {
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await app.api.driver.create("step", { id: "s", state: "open", parentId: null, ...times });
    await app.api.driver.update("step", { id: "s" }, { parentId: "s" });
    const answer = await app
      .as({ id: "ann" })
      .request("PATCH", "/api/steps/s", { parent: { update: { state: "closed" } } });
    const stored = await app.api.driver.findOne("step", { id: "s" });
    expect([answer.status, stored]).toMatchObject([200, { state: "closed" }]);
  });
});
