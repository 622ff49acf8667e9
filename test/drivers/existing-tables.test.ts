import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  belongsTo,
  bool,
  datetime,
  decimal,
  defineRule,
  embedded,
  entity,
  exportAction,
  float,
  hasMany,
  importAction,
  int,
  manyToMany,
  postgres,
  string,
  text,
  uuid,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { describePostgres } from "../support/describe-postgres.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };

/** The entities of existing tables, under other names. */
function entitiesIn(schema: string | undefined) {
  const inSchema = { schema };
  const customer = entity("customer", {
    name: string.column("full name"),
    isVip: bool.column("vip").databaseDefault(),
    orders: hasMany(() => order),
  })
    .id(int.column("customer_no"))
    .table("crm_customers", inSchema)
    .timestamps(false)
    .existing()
    .rules(everyone);
  const label = entity("label", { word: string.column("label_word").unique() })
    .id(int.column("label_id"))
    .table("labels", inSchema)
    .timestamps(false)
    .existing()
    .rules(everyone);
  const order = entity("order", {
    number: string.column("order number").unique(),
    total: decimal(10, 2).column("total_amount"),
    shout: text.optional().column("number_upper").computed(),
    shippedAt: datetime.optional().column("shipped"),
    customer: belongsTo(() => customer)
      .column("cust")
      .onDelete("cascade"),
    labels: manyToMany(() => label).through("order_labels", { ...inSchema, own: "order_ref", other: "label_ref" }),
  })
    .id(int.column("order_no"))
    .table("select", inSchema)
    .timestamps({ createdAt: "made_at", updatedAt: "changed_at" })
    .existing()
    .rules(everyone)
    .actions({ export: exportAction, import: importAction });
  const bigOrder = entity("bigOrder", {
    number: string.column("order number"),
    total: decimal(10, 2).column("total_amount"),
  })
    .id(int.column("order_no"))
    .table("big_orders", inSchema)
    .timestamps(false)
    .readOnly()
    .rules(everyone);
  const note = entity("note", { text, customer: belongsTo(() => customer).optional() })
    .id(uuid)
    .rules(everyone);
  return [customer, label, order, bigOrder, note] as const;
}

const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  SQLite: [
    `create table crm_customers (customer_no integer primary key autoincrement, "full name" varchar(60) not null, vip boolean not null default 0)`,
    "create table labels (label_id integer primary key autoincrement, label_word varchar(40) not null unique)",
    `create table "select" (order_no integer primary key autoincrement, "order number" text not null unique, total_amount decimal(10,2) not null,
      number_upper text generated always as (upper("order number")) stored, shipped datetime, cust integer not null references crm_customers on delete cascade,
      made_at datetime not null, changed_at datetime not null)`,
    `create table order_labels (order_ref integer not null references "select"(order_no) on delete cascade, label_ref integer not null references labels(label_id) on delete cascade,
      primary key (order_ref, label_ref))`,
    `create view big_orders as select order_no, "order number", total_amount from "select" where total_amount >= 100`,
    "create table unrelated (x integer)",
  ],
  PostgreSQL: [
    "create schema sales",
    `create table sales.crm_customers (customer_no serial primary key, "full name" varchar(60) not null, vip boolean not null default false)`,
    "create table sales.labels (label_id integer generated always as identity primary key, label_word varchar(40) not null unique)",
    `create table sales."select" (order_no serial primary key, "order number" varchar(40) not null unique, total_amount numeric(10,2) not null,
      number_upper text generated always as (upper("order number")) stored, shipped timestamptz, cust integer not null references sales.crm_customers on delete cascade,
      made_at timestamp with time zone not null, changed_at timestamp not null)`,
    `create table sales.order_labels (order_ref integer not null references sales."select"(order_no) on delete cascade, label_ref integer not null references sales.labels(label_id) on delete cascade,
      primary key (order_ref, label_ref))`,
    `create view sales.big_orders as select order_no, "order number", total_amount from sales."select" where total_amount >= 100`,
    "create table unrelated (x integer)",
  ],
};

describe.each(SQL_DATABASES)("tables with names of their own, on %s", (name, open) => {
  let database: SqlDatabase;
  let app: ReturnType<typeof createTestApp<ReturnType<typeof entitiesIn>>>;
  let before: string;
  const entities = entitiesIn(name === "PostgreSQL" ? "sales" : undefined);
  const full = (table: string): string => (name === "PostgreSQL" ? `sales.${table}` : table);

  /** Describes all tables except Keelson's own. */
  async function describeTables(): Promise<string> {
    if (name === "PostgreSQL") return describePostgres(database, ["note"]);
    return JSON.stringify(
      await database.rows("select sql from sqlite_master where name not like '%note%' order by name"),
    );
  }

  beforeAll(async () => {
    database = await open();
    for (const statement of STATEMENTS[name] as readonly string[]) await database.rows(statement);
    before = await describeTables();
    app = createTestApp({ entities, driver: database.driver });
    await app.api.ready;
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await app.as({ id: "ann" }).request(method, `/api/${path}`, body);
    if (answer.status >= 500) throw new Error(JSON.stringify(answer.body));
    return answer as unknown as { status: number; body: Record<string, unknown> & Record<string, unknown>[] };
  };

  it("are read, written, filtered, sorted and related by the names of the entities", async () => {
    const ann = (await ask("POST", "customers", { name: "Ann" })).body;
    expect(ann).toEqual({ id: 1, name: "Ann", isVip: false });
    const bob = (await ask("POST", "customers", { name: "Bob", isVip: true })).body;
    const red = (await ask("POST", "labels", { word: "red" })).body;
    const blue = (await ask("POST", "labels", { word: "blue" })).body;
    const shippedAt = "2024-05-31T10:00:00.250Z";
    const first = await ask("POST", "orders", {
      number: "a-1",
      total: "120.5",
      shippedAt,
      customerId: ann.id,
      labelsIds: [red.id, blue.id],
      shout: "mine",
    });
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    expect(first.body).toMatchObject({ id: 1, total: "120.50", shout: "A-1", shippedAt, customerId: ann.id });
    await ask("POST", "orders", { number: "b-2", total: "9.99", customerId: bob.id, labelsIds: [red.id] });

    const numbers = async (query: string) => (await ask("GET", `orders?${query}`)).body.map(({ number }) => number);
    expect(await numbers("_sort=-total")).toEqual(["a-1", "b-2"]);
    expect(await numbers("total_lt=100&customer.isVip=true")).toEqual(["b-2"]);
    expect(await numbers("labels.word=blue")).toEqual(["a-1"]);
    expect(await numbers("number_like=B-&customer.name=Bob")).toEqual(["b-2"]);
    expect(await numbers(`shippedAt_gte=${shippedAt}&createdAt_gt=2024-01-01`)).toEqual(["a-1"]);
    expect((await ask("GET", "orders?_sort=number&include=customer,labels&_limit=1")).body[0]).toMatchObject({
      customer: { name: "Ann" },
      labels: expect.arrayContaining([expect.objectContaining({ word: "blue" })]),
    });
    expect((await ask("GET", `customers/${bob.id}?include=orders`)).body).toMatchObject({
      orders: [{ number: "b-2" }],
    });
    expect((await ask("PATCH", `orders/1`, { total: "99", labelsIds: [blue.id] })).body).toMatchObject({
      total: "99.00",
    });
    expect(await numbers("labels.word=red")).toEqual(["b-2"]);
    expect((await ask("POST", "orders", { number: "a-1", total: "1", customerId: ann.id })).status).toBe(409);
    const rows = await database.rows(`select count(*) as n from ${full("order_labels")}`);
    expect(Number(rows[0]?.n)).toBe(2);
  });

  it("can be read-only views and tables of other programs", async () => {
    await ask("POST", "orders", { number: "c-3", total: "500", customerId: 1 });
    expect((await ask("GET", "big-orders?total_gt=200")).body).toEqual([
      { id: expect.any(Number), number: "c-3", total: "500.00" },
    ]);
    expect((await ask("POST", "big-orders", { number: "x", total: "1" })).status).toBe(405);
    await expect(app.api.asSystem().bigOrder.delete("1")).rejects.toMatchObject({ status: 405 });
    await expect(app.api.driver.deleteMany("bigOrder", {})).rejects.toThrow(/read-only/);
  });

  it("keep their rows through an export and an import", async () => {
    const csv = (await ask("GET", "orders/export?format=csv&_sort=number")).body as unknown as string;
    const [last] = (await ask("GET", "orders?number=c-3")).body;
    await ask("DELETE", `orders/${last?.id}`);
    const request = new Request("http://test.invalid/api/orders/import", {
      method: "POST",
      headers: { "content-type": "text/csv" },
      body: csv
        .split("\r\n")
        .filter((line, index) => index === 0 || line.includes("c-3"))
        .join("\r\n"),
    });
    expect(await (await app.api.fetch(request)).json()).toEqual({ created: 1, updated: 0, failed: [] });
  });

  it("apply rules to values that the database fills in or computes", async () => {
    const schema = name === "PostgreSQL" ? { schema: "sales" } : {};
    const held = entity("held", {
      number: string.column("order number"),
      total: decimal(10, 2).column("total_amount"),
      shout: text.optional().column("number_upper").computed(),
      customerId: int.column("cust"),
    })
      .id(int.column("order_no"))
      .table("select", schema)
      .timestamps({ createdAt: "made_at", updatedAt: "changed_at" })
      .existing()
      .rules({ read: ["everyone"], update: [defineRule("etQuiet", () => ({ shout: { ne: "LOUD" } }))] });
    const vip = entity("vip", { name: string.column("full name"), isVip: bool.column("vip").databaseDefault() })
      .id(int.column("customer_no"))
      .table("crm_customers", schema)
      .timestamps(false)
      .existing()
      .rules({ create: [defineRule("etUnmarked", () => ({ isVip: null }))], read: ["everyone"] });
    const other = createTestApp({
      entities: [held, vip],
      driver:
        name === "PostgreSQL"
          ? postgres(database.url, { push: "off" })
          : embedded({ file: database.url.slice("file:".length), push: "off" }),
    });
    try {
      await other.api.ready;
      const as = other.as({ id: "ann" });
      expect((await as.request("PATCH", "/api/helds/1", { number: "loud" })).status).toBe(403);
      expect((await as.request("PATCH", "/api/helds/1", { number: "soft" })).status).toBe(200);
      expect((await as.request("POST", "/api/vips", { name: "Eve" })).status).toBe(403);
    } finally {
      await other.close();
    }
  });

  it("are cascaded, and missing tables next to them are created", async () => {
    expect((await ask("POST", "notes", { text: "hi", customerId: 2 })).status).toBe(201);
    await ask("DELETE", "notes/x");
    await app.api.driver.deleteMany("note", { id: { null: false } });
    expect((await ask("DELETE", "customers/2")).status).toBe(200);
    expect((await ask("GET", "orders?number=b-2")).body).toEqual([]);
  });

  it("are not changed by the start, and their differences are named", async () => {
    expect(await describeTables()).toBe(before);
    await database.rows(`alter table ${full("labels")} rename column label_word to word`);
    const again = createTestApp({
      entities: entitiesIn(name === "PostgreSQL" ? "sales" : undefined),
      driver: name === "PostgreSQL" ? postgres(database.url) : embedded({ file: database.url.slice("file:".length) }),
    });
    await expect(again.api.ready).rejects.toThrow(
      /table "labels": column "label_word" is missing; `keelson import` shows/,
    );
    await again.close().catch(() => undefined);
  });

  it("that others have changed stop the start, with column, types and solution", async () => {
    await database.rows(
      name === "PostgreSQL"
        ? "create table sales.moved (id integer primary key, at timestamp)"
        : "create table moved (id integer primary key, at datetime)",
    );
    const moved = entity("moved", { at: bool.optional() })
      .id(int)
      .table("moved", { schema: name === "PostgreSQL" ? "sales" : undefined })
      .timestamps(false)
      .existing()
      .rules(everyone);
    const other = createTestApp({
      entities: [moved],
      driver: name === "PostgreSQL" ? postgres(database.url) : embedded({ file: database.url.slice("file:".length) }),
    });
    await expect(other.api.ready).rejects.toThrow(
      /table "moved": column "at" has the type (timestamp|datetime), and boolean is expected; declare the field as datetime, `keelson import` shows what the entity would be now/,
    );
    await other.close().catch(() => undefined);
  });
});

describe.each(SQL_DATABASES.filter(([name]) => name === "PostgreSQL"))(
  "numbers of existing tables, on %s",
  (_, open) => {
    it("that their columns cannot hold are 400", async () => {
      const database = await open();
      await database.rows("create table gauge (id serial primary key, steps smallint, level real)");
      const gauge = entity("gauge", { steps: int.optional(), level: float.optional() })
        .id(int)
        .timestamps(false)
        .existing()
        .rules(everyone);
      const app = createTestApp({ entities: [gauge], driver: database.driver });
      await app.api.ready;
      const ask = async (method: string, path: string, body?: unknown): Promise<number> =>
        (await app.as(null).request(method, `/api/gauges${path}`, body)).status;
      expect(await ask("POST", "", { steps: 32_767, level: 1.5 })).toBe(201);
      for (const body of [{ steps: 32_768 }, { level: 1e300 }]) {
        expect(await ask("POST", "", body)).toBe(400);
        expect(await ask("PATCH", "/1", body)).toBe(400);
      }
      for (const query of ["?steps=32768", "?steps_in=1,40000", "?level_lt=1e300"])
        expect(await ask("GET", query)).toBe(400);
      await app.close();
      await database.drop();
    });
  },
);
