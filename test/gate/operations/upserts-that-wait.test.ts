import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, entity, hasMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const customer = entity("customer", { email: string.unique(), name: string, orders: hasMany(() => order) }).rules(open);
const order = entity("order", { code: string, state: string, customer: belongsTo(() => customer) }).rules(open);

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("an upsert that waits, on %s", (_name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: [customer, order], driver: database.driver });
    await app.api.ready;
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["order", "customer"]) await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("customer", { id: "1", email: "a@x", name: "one", ...times });
    await driver.create("order", { id: "o", code: "o", state: "open", customerId: "1", ...times });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const put = () => app.as({ id: "ann" }).request("PUT", "/api/customers?_on=email", { email: "a@x", name: "new" });
  it("changes no record that has another key by then", async () => {
    const held = `update "customer" set "email" = 'b@x' where id = '1'`;
    const answer = await whileHeld(String(database.url), { held, end: "commit" }, put);
    const [stored, all] = [
      await app.api.driver.findOne("customer", { id: "1" }),
      await app.api.driver.count("customer"),
    ];
    expect([answer.status, stored, all]).toMatchObject([201, { email: "b@x", name: "one" }, 2]);
  });
  it("among nested writes changes no record that does not meet `where` by then", async () => {
    const held = `update "order" set "state" = 'sent' where id = 'o'`;
    const body = {
      orders: {
        upsert: [{ where: { state: "open" }, create: { code: "n", state: "open" }, update: { code: "changed" } }],
      },
    };
    await whileHeld(String(database.url), { held, end: "commit" }, () =>
      app.as({ id: "ann" }).request("PATCH", "/api/customers/1", body),
    );
    expect(await app.api.driver.findOne("order", { id: "o" })).toMatchObject({ code: "o", state: "sent" });
  });
});
