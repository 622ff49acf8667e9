import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Driver, withMiddleware } from "../../src/driver.ts";
import { belongsTo, defineRule, entity, hasMany, int, manyToMany, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

const open = { read: ["everyone"], create: ["everyone"], update: ["everyone"] };
const mine = defineRule("statementsMine", ({ user }) => user !== null && { owner: String(user.id) });

const customer = entity("customer", { name: string.unique() }).rules(open);
const order = entity("order", {
  number: string.unique(),
  owner: string.default("ann"),
  customer: belongsTo(() => customer).optional(),
  lines: hasMany(() => line),
  tags: manyToMany(() => tag),
}).rules({ ...open, read: [mine] });
const line = entity("line", {
  sku: string,
  quantity: int.min(1),
  order: belongsTo(() => order),
  parts: hasMany(() => part),
}).rules(open);
const part = entity("part", { name: string, line: belongsTo(() => line) }).rules(open);
const tag = entity("tag", { word: string.unique() }).rules(open);
const ENTITIES = [customer, order, line, part, tag] as const;

/** The driver, with its statements recorded, except those that begin and end transactions. */
function counting(driver: Driver, noted: string[]): Driver {
  return withMiddleware(
    driver,
    (statement, next) => {
      noted.push(`${statement.kind} ${"entity" in statement ? statement.entity.name : statement.relation.name}`);
      return next(statement);
    },
    { joins: true },
  );
}

const ten = <T>(make: (place: number) => T): T[] => Array.from({ length: 10 }, (_, place) => make(place));

describe.each(everyDatabase(ENTITIES, 1))("statements of a request, on %s", (_name, openDatabase) => {
  const noted: string[] = [];
  let database: TestDatabase;
  let app: ReturnType<typeof createTestApp<typeof ENTITIES>>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({ entities: ENTITIES, driver: counting(database.driver, noted) });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  async function sentBy(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown; sent: string[] }> {
    noted.length = 0;
    const answer = await app.as({ id: "ann" }).request(method, `/api/${path}`, body);
    return { status: answer.status, body: answer.body, sent: [...noted] };
  }
  const lines = ten((place) => ({ sku: `s${place}`, quantity: place + 1 }));

  it("an order with ten lines is two inserts", async () => {
    const { status, sent } = await sentBy("POST", "orders", { number: "1", lines: { create: lines } });
    expect([status, sent]).toEqual([201, ["insert order", "insert line"]]);
  });

  it("an order's references, pairs and lines are one insert for each entity", async () => {
    const { status, body, sent } = await sentBy("POST", "orders?include=tags,lines", {
      number: "2",
      customer: { create: { name: "Ann" } },
      lines: { create: lines.map((one) => ({ ...one, parts: { create: [{ name: "a" }, { name: "b" }] } })) },
      tags: { create: ten((place) => ({ word: `w${place}` })) },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ lines: expect.arrayContaining([expect.objectContaining({ sku: "s9" })]) });
    expect((body as { tags: unknown[] }).tags).toHaveLength(10);
    expect(sent.filter((one) => one.startsWith("insert"))).toEqual(
      ["tag", "customer", "order", "line", "part"].map((name) => `insert ${name}`),
    );
    expect(sent.length).toBeLessThanOrEqual(10);
  });

  it("a batch of ten changes is ten updates", async () => {
    const { body } = await sentBy("GET", "lines?order.number=1");
    const items = (body as { id: string }[]).map(({ id }) => ({
      method: "PATCH",
      path: `/lines/${id}`,
      body: { quantity: 5 },
    }));
    const { status, sent } = await sentBy("POST", "batch", items);
    expect([status, sent]).toEqual([200, ten(() => "update line")]);
  });

  it("a batch of ten orders with lines stores the lines of each", async () => {
    const items = ten((place) => ({
      method: "POST",
      path: "/orders",
      body: { number: `b${place}`, lines: { create: lines } },
    }));
    const { status, sent } = await sentBy("POST", "batch", items);
    expect([status, sent]).toEqual([200, ten(() => ["insert order", "insert line"]).flat()]);
  });

  it("an include is a statement for each relation", async () => {
    const include = encodeURIComponent(JSON.stringify({ lines: { sort: "-quantity", limit: 3 } }));
    const { body, sent } = await sentBy("GET", `orders?_total=none&include=${include}`);
    expect((body as { lines: unknown[] }[])[0]?.lines).toHaveLength(3);
    expect(sent).toEqual(["find order", "find line"]);
  });

  it("a refused line is named, wherever it is stored, and nothing is stored", async () => {
    const before = [await app.api.asSystem().order.count(), await app.api.asSystem().tag.count()];
    const words = ten((place) => ({ word: place === 7 ? "w3" : `x${place}` }));
    const conflict = await sentBy("POST", "orders", { number: "3", tags: { create: words } });
    expect(conflict).toMatchObject({ status: 409, body: { message: expect.stringContaining("tags.create.7: ") } });
    // An earlier record's error takes precedence over a later record's.
    const both = [...words, { word: 5 }];
    const first = await sentBy("POST", "orders", { number: "3", tags: { create: both } });
    expect(first).toMatchObject({ status: 409, body: { message: expect.stringContaining("tags.create.7: ") } });
    const item = { method: "POST", path: "/orders", body: { number: "4", tags: { create: words } } };
    const batch = await sentBy("POST", "batch", [{ ...item, body: { number: "5", lines: { create: lines } } }, item]);
    expect(batch).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/^Item 1: tags\.create\.7: /) },
    });
    expect([await app.api.asSystem().order.count(), await app.api.asSystem().tag.count()]).toEqual(before);
  });
});
