import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  bulkDeleteAction,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  int,
  string,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { recordStatements } from "../../support/record-statements.ts";
import { SQL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const desk = entity("desk", { seats: hasMany(() => seat), stools: hasMany(() => stool) })
  .id(int)
  .rules({ read: ["everyone"], update: ["everyone"] });
const led = defineRule("lioLed", () => ({ desk: { seats: { role: "lead" } } }));
const ledRead = defineRule("lioLedRead", ({ record }) => record !== null && { desk: { stools: { role: "lead" } } });
const bulk = { bulkUpdate: bulkUpdateAction, bulkDelete: bulkDeleteAction };
const seat = entity("seat", { role: string, desk: belongsTo(() => desk) })
  .rules({ read: ["everyone"], create: [led], update: [led], delete: [led] })
  .actions(bulk);
const stool = entity("stool", { role: string, desk: belongsTo(() => desk) })
  .rules({ read: ["everyone"], update: [ledRead] })
  .actions(bulk);

const POSTGRES = SQL_DATABASES.filter(([name]) => name === "PostgreSQL");
describe.each(POSTGRES)("records that several writes lead to, on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [desk, seat, stool], driver: database.driver });
    await app.api.ready;
    const { driver } = app.api;
    const times = { createdAt: new Date(), updatedAt: new Date() };
    for (const id of [8, 9, 10]) await driver.create("desk", { id, ...times });
    for (const entity of ["seat", "stool"])
      for (const [id, deskId] of Object.entries({ a: "10", b: "9", c: "10", d: "8" }))
        await driver.create(entity, { id, role: id === "d" ? "guest" : "lead", deskId, ...times });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const ask = (method: "DELETE" | "PATCH" | "POST" | "PUT", path: string, body?: object) =>
    app.as({ id: "x" }).request(method, `/api/${path}`, body);
  const lock = (table: string, id: string | number): string =>
    `select from "${table}" where "id" = '${id}' for update nowait`;
  const data = { role: "lead" };

  it.each([
    ["the old and new ones of one record", "PATCH", "seats/c", { deskId: 9 }],
    ["those of all records of a bulk", "PUT", "seats/bulk", { ids: ["a", "b"], data }],
    ["also with ids that no record has", "PUT", "seats/bulk", { ids: ["A".repeat(300), "a", "b"], data }],
    ["also if the first record is refused", "PUT", "seats/bulk", { ids: ["d", "a", "b"], data }],
    ["also under a rule that reads the record", "PUT", "stools/bulk", { ids: ["a", "b"], data }],
  ] as const)("are locked in the order of their ids: %s", async (_case, method, path, body) => {
    const during = { held: lock("desk", 9), meanwhile: lock("desk", 10) };
    const write = () => ask(method, path, body);
    expect(await whileHeld(database.url, during, write)).toMatchObject({ status: 200 });
  });

  it.each([
    ["an update", "PATCH", "seats/d", data, { status: 403 }],
    ["a bulk update", "PUT", "seats/bulk", { ids: ["d"], data }, { status: 200, body: { count: 0 } }],
    ["a bulk deletion", "POST", "seats/bulk-delete", { ids: ["d"] }, { status: 200, body: { count: 0 } }],
    ["a deletion", "DELETE", "seats/d", undefined, { status: 403 }],
    ["a create", "POST", "seats", { role: "lead", deskId: 8 }, { status: 403 }],
  ] as const)("are not locked by %s that the rules refuse", async (_case, method, path, body, answer) => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query("begin");
      await other.query(lock("seat", "d"));
      await other.query(lock("desk", 8));
      expect(await ask(method, path, body)).toMatchObject(answer);
    } finally {
      await other.end();
    }
  });
});

const skilled = defineRule(
  "lioSkilled",
  ({ record }) => record !== null && { crew: { firm: { crews: { tasks: { skill: String(record.skill) } } } } },
);
const firm = entity("firm", { crews: hasMany(() => crew) }).rules({ read: ["everyone"] });
const crew = entity("crew", { firm: belongsTo(() => firm), tasks: hasMany(() => task) }).rules({ read: ["everyone"] });
const task = entity("task", { skill: string, title: string.default("x"), crew: belongsTo(() => crew) })
  .rules({ read: ["everyone"], update: [skilled] })
  .actions(bulk);

describe.each(POSTGRES)("a bulk whose rule returns another condition for each record, on %s", (_name, open) => {
  it("takes a number of statements in proportion to its records", async () => {
    const database = await open();
    const driver = recordStatements(database.driver);
    const app = createTestApp({ entities: [firm, crew, task], driver });
    try {
      await app.api.ready;
      const times = { createdAt: new Date(), updatedAt: new Date() };
      await app.api.driver.create("firm", { id: "f", ...times });
      await app.api.driver.create("crew", { id: "c", firmId: "f", ...times });
      const ids = Array.from({ length: 20 }, (_, index) => `k${index}`);
      for (const id of ids) await app.api.driver.create("task", { id, skill: id, title: "x", crewId: "c", ...times });
      const counts: number[] = [];
      for (const most of [5, 10, 20]) {
        driver.statements.length = 0;
        const body = { ids: ids.slice(0, most), data: { title: "y" } };
        expect(await app.as({ id: "x" }).request("PUT", "/api/tasks/bulk", body)).toMatchObject({
          body: { count: most },
        });
        counts.push(driver.statements.length / most);
      }
      expect(Math.max(...counts)).toBeLessThan(1.2 * Math.min(...counts));
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
