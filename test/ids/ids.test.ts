import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { prisma, toPrismaSchema } from "../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  bigint,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  type EntityLike,
  entity,
  exportAction,
  hasMany,
  importAction,
  int,
  manyToMany,
  selfRef,
  string,
  uuid,
} from "../../src/index.ts";
import { audit } from "../../src/plugins/audit/index.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { freshMysql } from "../support/databases.ts";
import { generatedClient } from "../support/generate-client.ts";
import { askMysql, whyNoMysql } from "../support/mysql-server.ts";
import { mysqlTables } from "../support/mysql-tables.ts";
import { ALL_DATABASES, type TestDatabase } from "../support/sql-databases.ts";

const everyone = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };

/** A small shop whose entities all have ids of one kind. */
function shop(withIds: <E extends { id(...given: never[]): E }>(builder: E) => E) {
  const customer = withIds(entity("customer", { name: string, orders: hasMany(() => order) }) as never) as ReturnType<
    typeof plainCustomer
  >;
  const tag = withIds(entity("tag", { word: string.unique(), orders: manyToMany(() => order) }) as never) as never;
  const order = withIds(
    entity("order", {
      number: string.unique(),
      customer: belongsTo(() => customer).optional(),
      parent: selfRef().optional(),
      tags: manyToMany(() => tag as EntityLike),
    })
      .rules(everyone)
      .actions({
        clone: cloneAction,
        count: countAction,
        export: exportAction,
        import: importAction,
        bulkUpdate: bulkUpdateAction,
        bulkDelete: bulkDeleteAction,
      }) as never,
  ) as never as EntityLike;
  return [
    (customer as never as { rules(rules: object): EntityLike }).rules(everyone),
    (tag as never as { rules(rules: object): EntityLike }).rules(everyone),
    order,
  ] as const;
}
const plainCustomer = () => entity("customer", { name: string });

let given = 0;
const KINDS: readonly (readonly [string, (builder: never) => never, "number" | "string", () => unknown])[] = [
  ["int", (builder: { id(field: unknown): never }) => builder.id(int), "number", () => undefined],
  ["bigint", (builder: { id(field: unknown): never }) => builder.id(bigint), "string", () => undefined],
  ["uuid", (builder: { id(field: unknown): never }) => builder.id(uuid), "string", () => undefined],
  [
    "uuid of the database",
    (builder: { id(field: unknown, options: object): never }) => builder.id(uuid, { from: "database" }),
    "string",
    () => undefined,
  ],
  ["string", (builder: { id(field: unknown): never }) => builder.id(string), "string", () => `key-${given++}`],
  [
    "int of the caller",
    (builder: { id(field: unknown, options: object): never }) => builder.id(int, { from: "caller" }),
    "number",
    () => 1000 + given++,
  ],
] as never;

const noMysql = await whyNoMysql();

async function openMariadb(entities: readonly EntityLike[], isDirect: boolean): Promise<TestDatabase> {
  const { url, drop } = await freshMysql();
  await askMysql(url, mysqlTables(toPrismaSchema(entities, { provider: "mysql" })));
  const Client = await generatedClient(entities, "mysql");
  const adapter = new PrismaMariaDb(url);
  return { driver: prisma(new Client({ adapter }), isDirect ? { adapter } : {}), url, drop };
}

const DATABASES: readonly (readonly [string, (entities: readonly EntityLike[]) => Promise<TestDatabase>])[] = [
  ...ALL_DATABASES,
  ...(noMysql === undefined
    ? [["MariaDB", (entities: readonly EntityLike[]) => openMariadb(entities, true)] as const]
    : []),
];

interface Shown {
  readonly id: unknown;
  readonly [name: string]: unknown;
}

describe.each(DATABASES)("ids on %s", (databaseName, open) => {
  describe.each(KINDS.filter(([name]) => name !== "uuid of the database" || databaseName !== "SQLite"))(
    "of the kind %s",
    (kindName, withIds, type, next) => {
      const entities = shop(withIds as never);
      let database: TestDatabase;
      let app: ReturnType<typeof createTestApp<[]>>;
      const skips = databaseName === "MariaDB" && kindName === "uuid of the database";

      beforeAll(async () => {
        if (skips) return;
        database = await open(entities);
        app = createTestApp({
          entities: entities as never,
          driver: database.driver,
          // Their tables are not created on MariaDB, whose migrations are Prisma's own.
          plugins: databaseName === "MariaDB" ? [] : [idempotency(), audit()],
        } as never) as never;
        await app.api.ready;
      });
      afterAll(async () => {
        await app?.close();
        await database?.drop();
      });
      const ask = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
        const answer = await app.as({ id: "ann" }).request(method, `/api/${path}`, body, headers);
        if (answer.status >= 500) throw new Error(JSON.stringify(answer.body));
        return answer as unknown as { status: number; body: Shown & Shown[]; headers: Headers };
      };
      const create = async (path: string, data: object, headers?: Record<string, string>) => {
        const id = next();
        const { status, body } = await ask("POST", path, id === undefined ? data : { id, ...data }, headers);
        expect(status, JSON.stringify(body)).toBe(201);
        return body;
      };

      it.skipIf(skips)("find, filter, relate, update and delete records", async () => {
        const ann = await create("customers", { name: "Ann" });
        expect(typeof ann.id).toBe(type);
        const bob = await create("customers", { name: "Bob" });
        const red = await create("tags", { word: "red" });
        const blue = await create("tags", { word: "blue" });
        const first = await create("orders", { number: "1", customerId: ann.id, tagsIds: [red.id, blue.id] });
        const second = await create("orders", {
          number: "2",
          customerId: bob.id,
          parentId: first.id,
          tagsIds: [red.id],
        });
        expect([first.customerId, second.parentId]).toEqual([ann.id, first.id]);

        expect((await ask("GET", `orders/${first.id}?include=customer,tags,parent`)).body).toMatchObject({
          id: first.id,
          customer: { id: ann.id, name: "Ann" },
        });
        const { tags } = (await ask("GET", `orders/${first.id}?include=tags`)).body as unknown as { tags: Shown[] };
        expect(tags.map(({ word }) => word).sort()).toEqual(["blue", "red"]);
        expect((await ask("GET", `customers/${ann.id}?include=orders`)).body).toMatchObject({
          orders: [{ number: "1" }],
        });
        const numbers = async (query: string) => (await ask("GET", `orders?${query}`)).body.map(({ number }) => number);
        expect(await numbers(`customerId=${bob.id}`)).toEqual(["2"]);
        expect(await numbers(`id=${first.id}&id=${second.id}&_sort=number`)).toEqual(["1", "2"]);
        expect(await numbers("customer.name=Ann")).toEqual(["1"]);
        expect(await numbers(`tags.id=${blue.id}`)).toEqual(["1"]);
        expect((await ask("GET", `orders/count?customerId=${ann.id}`)).body).toEqual({ count: 1 });

        const put = await ask("PUT", `orders/${second.id}`, { ...second, number: "2b", customerId: ann.id });
        expect([put.status, put.body]).toMatchObject([200, { id: second.id, number: "2b", customerId: ann.id }]);
        expect((await ask("PATCH", `orders/${second.id}`, { id: first.id })).status).toBe(400);
        expect((await ask("PATCH", `orders/${second.id}`, { tagsIds: [] })).status).toBe(200);
        expect((await ask("DELETE", `orders/${second.id}`)).status).toBe(200);
      });

      it.skipIf(skips)("keep their order in pages and the same rows in bulk, exports and imports", async () => {
        await ask("DELETE", "orders/bulk", { ids: (await ask("GET", "orders?_limit=100")).body.map(({ id }) => id) });
        const made: Shown[] = [];
        for (let i = 0; i < 12; i++) made.push(await create("orders", { number: `p${i}` }));
        const pages: unknown[] = [];
        for (let after = ""; ; ) {
          const { body, headers } = await ask("GET", `orders?_limit=5${after}`);
          pages.push(...body.map(({ id }) => id));
          const cursor = headers.get("x-next-cursor");
          if (cursor === null) break;
          after = `&_after=${cursor}`;
        }
        const sorted = [...made].sort((a, b) =>
          type === "number" || kindName === "bigint"
            ? Number(a.id) - Number(b.id)
            : String(a.id) < String(b.id)
              ? -1
              : 1,
        );
        expect(pages).toEqual(sorted.map(({ id }) => id));
        const ids = made.slice(0, 3).map(({ id }) => id);
        const changed = await ask("PUT", "orders/bulk", { ids, data: { customerId: null } });
        expect([changed.status, changed.body]).toEqual([200, { count: 3 }]);

        const csv = (await ask("GET", "orders/export?format=csv")).body as unknown as string;
        await ask("DELETE", "orders/bulk", { ids: made.map(({ id }) => id) });
        const headers = { "content-type": "text/csv" };
        const request = new Request("http://test.invalid/api/orders/import", { method: "POST", headers, body: csv });
        expect(await (await app.api.fetch(request)).json()).toMatchObject({ created: 12 });
        const back = (await ask("GET", "orders?_sort=number&_limit=100")).body;
        expect(back.map(({ number }) => number)).toEqual(made.map(({ number }) => number).sort());
      });

      it.skipIf(skips)("of a missing record are 404, and references to it are refused", async () => {
        for (const id of ["abc", "0x10", "999999999999999999999999", "00000000-0000-0000-0000-000000000000"])
          expect((await ask("GET", `orders/${id}`)).status).toBe(404);
        expect((await ask("POST", "orders", { id: next(), number: "x", customerId: "nothing" })).status).toBe(400);
        expect((await ask("DELETE", "orders/abc")).status).toBe(404);
      });

      it.skipIf(databaseName === "MariaDB")(
        "are created once for a repeated request, and copies of records get their own",
        async () => {
          const key = { "idempotency-key": crypto.randomUUID() };
          const id = next();
          const send = () => ask("POST", "orders", { ...(id !== undefined && { id }), number: "once" }, key);
          const first = await send();
          expect((await send()).body).toEqual(first.body);
          if (next() === undefined) {
            await ask("PATCH", `orders/${first.body.id}`, { number: "twice" });
            const copy = await ask("POST", `orders/${first.body.id}/clone`, { number: "copy" });
            expect([copy.status, copy.body.number]).toEqual([201, "copy"]);
            expect(copy.body.id).not.toEqual(first.body.id);
          }
        },
      );
    },
  );
});

describe("ids", () => {
  it("created by Keelson ascend, also while the clock is behind", async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const note = entity("note", { text: string });
    const app = createTestApp({ entities: [note] });
    onTestFinished(() => app.close());
    const made: string[] = [];
    for (const minutes of [2, 1, 2, 3]) {
      vi.setSystemTime(start + minutes * 60_000);
      for (let index = 0; index < 100; index++) made.push((await app.api.asSystem().note.create({ text: "" })).id);
    }
    expect(made).toEqual([...new Set(made)].sort());
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(made[0]?.slice(0, 13)).not.toBe(made[399]?.slice(0, 13));
  });

  it("are refused at once where they are not supported", () => {
    const thing = entity("thing", { name: string });
    expect(() => thing.id(int, { from: "keelson" })).toThrow(/numbers come from the "database"/);
    expect(() => thing.id(string, { from: "database" })).toThrow(/texts come from/);
    expect(() => thing.id(string.encrypted() as never).build()).not.toThrow();
  });
});
