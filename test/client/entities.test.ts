import { embedded, memoryDriver } from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshSqliteFile } from "../support/databases.ts";
import { openShop, SHOP_SEED } from "./shop.ts";

const onMemory = async () => ({ driver: memoryDriver(SHOP_SEED), remove: async () => {} });
const onSqlite = async () => {
  const { file, remove } = await freshSqliteFile();
  return { driver: embedded({ file }), remove };
};

describe.each([
  ["memory", onMemory],
  ["SQLite", onSqlite],
])("a client of an app on %s", (name, open) => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    remove = opened.remove;
    shop = await openShop(opened.driver);
    if (name === "memory") return;
    const { person, orderItem } = shop.api.asSystem();
    for (const one of SHOP_SEED.person) await person.create(one);
    for (const one of SHOP_SEED.orderItem) await orderItem.create(one as Parameters<typeof orderItem.create>[0]);
  });
  afterAll(async () => {
    await shop.close();
    await remove();
  });
  const items = () => shop.clientOf("ann").orderItem;

  it("sends related records with options, conditions and aggregates", async () => {
    const { person } = shop.clientOf("ann");
    const { data } = await person.list({
      include: { items: { sort: ["-title"], limit: 1, count: true } },
      sort: ["id"],
    });
    const all = await items().list({ where: { or: [{ ownerId: "ann" }, { ownerId: "bob" }] }, limit: 1_000 });
    for (const one of data) {
      const own = all.data.filter(({ ownerId }) => ownerId === one.id).map(({ title }) => title);
      expect([one._count.items, one.items.map(({ title }) => title)]).toEqual([
        own.length,
        own.sort().reverse().slice(0, 1),
      ]);
    }
    const groups = await items().aggregate({ group: ["ownerId"], count: true, where: { title: { ne: "none" } } });
    for (const { ownerId, count } of groups)
      expect(count).toBe(all.data.filter((one) => one.ownerId === ownerId).length);
    expect(groups.length).toBeGreaterThan(0);
  });

  it("creates, reads, updates and deletes a record, with datetimes as text", async () => {
    const dueAt = new Date("2026-05-06T07:08:09.010Z");
    const made = await items().create({ title: "Screw", dueAt, ownerId: "ann" });
    expect(made).toMatchObject({ title: "Screw", count: 1, isOpen: true, dueAt: dueAt.toISOString() });
    expect(new Date(made.createdAt).toISOString()).toBe(made.createdAt);
    expect(await items().get(made.id)).toEqual(made);
    // A record can be sent back as it was read.
    const changed = await items().update(made.id, { title: "Long screw", dueAt: made.dueAt });
    expect(changed).toMatchObject({ id: made.id, title: "Long screw", count: 1, dueAt: made.dueAt });
    expect(await shop.clientOf("root").orderItem.delete(made.id)).toBeUndefined();
    await expect(items().get(made.id)).rejects.toMatchObject({ code: "NOT_FOUND", status: 404, message: "Not found" });
  });

  it("finds ids with any characters", async () => {
    for (const id of ["a b", "a%2Fb?c#d", "é", "..."]) {
      await shop.api.asSystem().orderItem.create({ id, title: "Odd", ownerId: "ann" });
      expect(await items().get(id)).toMatchObject({ id });
      await shop.api.asSystem().orderItem.delete(id);
    }
  });

  it("returns what the same in-process call returns", async () => {
    const query = {
      where: { count: { gte: 2 }, title: { like: "nut" }, owner: { name: "ann" } },
      sort: ["-price", "title"],
      limit: 3,
      include: ["owner"],
      select: ["title", "price", "dueAt", "ownerId"],
    } as const;
    const inProcess = await shop.api.as({ id: "ann" }).orderItem.list(query);
    expect(inProcess.data.length).toBeGreaterThan(1);
    expect(await items().list(query)).toEqual(JSON.parse(JSON.stringify(inProcess)));
    const { where } = query;
    expect(await items().count(where)).toBe(await shop.api.as({ id: "ann" }).orderItem.count(where));
    const one = { include: ["items"], select: ["name"] } as const;
    const record = await shop.api.as({ id: "ann" }).person.get("bob", one);
    expect(await shop.clientOf("ann").person.get("bob", one)).toEqual(JSON.parse(JSON.stringify(record)));
  });

  it("counts nothing, and everything", async () => {
    expect(await items().count({ title: "none such" })).toBe(0);
    expect(await items().count()).toBe(25);
  });

  it("lists with no query, a page by number, and by text", async () => {
    expect((await items().list()).data).toHaveLength(25);
    const second = await items().list({ page: 2, limit: 10, sort: ["id"] });
    expect(second.data.map(({ id }) => id)).toEqual(SHOP_SEED.orderItem.slice(10, 20).map(({ id }) => id));
    expect(second.total).toBe(25);
    expect((await items().list({ q: "BOLT" })).total).toBe(6);
    expect((await items().list({ where: { dueAt: { lt: "2026-01-03T00:00:00Z" } } })).total).toBe(1);
    expect((await items().list({ where: { dueAt: { lt: new Date("2026-01-03") } } })).total).toBe(1);
  });

  it("continues where a page ended", async () => {
    const first = await items().list({ limit: 20, sort: ["-count"] });
    const rest = await items().list({ limit: 20, sort: ["-count"], after: first.nextCursor as string });
    expect(new Set([...first.data, ...rest.data].map(({ id }) => id)).size).toBe(25);
    expect(rest.nextCursor).toBeNull();
  });

  it("reads all records, one by one and page by page, in one order", async () => {
    const wanted = (await items().list({ sort: ["-count", "title"] })).data.map(({ id }) => id);
    const one: string[] = [];
    for await (const { id } of items().all({ sort: ["-count", "title"], limit: 10 })) one.push(id);
    expect(one).toEqual(wanted);
    const sizes: number[] = [];
    for await (const page of items().pages({ limit: 5 })) sizes.push(page.length);
    expect(sizes).toEqual([5, 5, 5, 5, 5]);
    const from = (await items().list({ sort: ["id"], limit: 22 })).nextCursor as string;
    const last: string[] = [];
    for await (const { id } of items().all({ sort: ["id"], after: from })) last.push(id);
    expect(last).toEqual(["item-22", "item-23", "item-24"]);
  });
});
