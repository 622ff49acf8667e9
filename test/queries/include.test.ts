import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { openShop, SHOP, type Shop } from "./shop.ts";

describe.each(everyDatabase(SHOP, 0))("an include with options, on %s", (_name, open) => {
  let database: TestDatabase;
  let shop: Shop;
  beforeAll(async () => {
    database = await open();
    shop = await openShop(database.driver);
  });
  afterAll(async () => {
    await shop?.app.close();
    await database?.drop();
  });

  const read = (path: string, include: unknown, caller = shop.staff) =>
    caller.request("GET", `/api/${path}include=${encodeURIComponent(JSON.stringify(include))}`);
  const shown = async (path: string, include: unknown, caller = shop.staff) => {
    const { status, body } = await read(path, include, caller);
    expect([status, body]).toEqual([200, expect.anything()]);
    return body as Record<string, unknown>;
  };

  it("returns the first matching records of each parent, in a given order", async () => {
    const orders = { sort: "-number", limit: 2, select: ["number"], where: { number: { ne: "1010" } } };
    expect(await shown("customers?select=login&", { orders })).toEqual([
      {
        id: "ann",
        login: "ann",
        orders: [
          { id: "o08", number: "1008" },
          { id: "o06", number: "1006" },
        ],
      },
      {
        id: "bob",
        login: "bob",
        orders: [
          { id: "o11", number: "1011" },
          { id: "o09", number: "1009" },
        ],
      },
      { id: "cem", login: "cem", orders: [] },
    ]);
  });

  it("counts related records in addition to the returned ones", async () => {
    const include = { orders: { limit: 1, select: ["id"], count: true, include: { tags: { count: true, limit: 1 } } } };
    const [ann, bob, cem] = (await shown("customers?select=login&", include)) as unknown as Record<string, unknown>[];
    expect([ann?._count, bob?._count, cem?._count]).toEqual([{ orders: 6 }, { orders: 6 }, { orders: 0 }]);
    expect(bob?.orders).toEqual([{ id: "o01", tags: [expect.objectContaining({ id: "gift" })], _count: { tags: 2 } }]);
  });

  it.each([
    ["tags", "lines"],
    ["lines", "tags"],
  ])("shows counts in the order of the request: %s, %s", async (...names) => {
    const include = Object.fromEntries(names.map((name) => [name, { count: true, limit: 1 }]));
    const order = await shown("orders/o03?", include);
    expect(Object.keys(order._count as object)).toEqual(names);
  });

  it("can include the related records of included ones, and of a to-one relation", async () => {
    const include = {
      lines: { where: { quantity: { gte: 2 } }, include: { order: { select: ["number"] } } },
      customer: { select: ["name"] },
    };
    expect(await shown("orders/o03?select=number&", include)).toEqual({
      id: "o03",
      number: "1003",
      customer: { id: "bob", name: "BOB" },
      lines: [
        expect.objectContaining({ sku: "s1", quantity: 2, order: { id: "o03", number: "1003" } }),
        expect.objectContaining({ sku: "s2", quantity: 3, order: { id: "o03", number: "1003" } }),
      ],
    });
  });

  it("shows and counts only what the caller may read", async () => {
    const include = { orders: { count: true, limit: 1 } };
    const [ann, bob] = (await shown("customers?", include, shop.ann)) as unknown as Record<string, unknown>[];
    expect([ann?._count, bob?._count, bob?.orders]).toEqual([{ orders: 6 }, { orders: 0 }, []]);
    expect((await read("orders?", { customer: { where: { rating: 3 } } }, shop.ann)).status).toBe(400);
    expect((await read("orders?", { customer: { select: ["card"] } }, shop.ann)).status).toBe(400);
    expect((await read("orders?", { customer: { select: ["nothing"] } }, shop.ann)).status).toBe(400);
  });

  it("works the same in the process", async () => {
    const { data } = await shop.app.api.as({ id: "eve", role: "staff" }).customer.list({
      include: { orders: { sort: ["-number"], limit: 1, select: ["number"], count: true } },
    });
    expect(data.map(({ orders }) => orders)).toEqual([
      [{ id: "o10", number: "1010" }],
      [{ id: "o11", number: "1011" }],
      [],
    ]);
  });

  it.each([
    [{ orders: { limit: -1 } }, '"limit" of the include of "orders" takes a whole number'],
    [{ orders: { limit: 1_001 } }, "at most 1000 records"],
    [{ orders: { size: 3 } }, 'has no option "size"'],
    [{ orders: 3 }, 'include of "orders" takes true, or an object'],
    [{ orders: { where: { nothing: 1 } } }, 'has no field "nothing"'],
    [{ orders: { sort: "nothing" } }, 'no field "nothing" to sort by'],
    [{ profile: { limit: 1 } }, "there is one record"],
    [{ ordrs: true }, 'no relation "ordrs" to include. Did you mean "orders"?'],
    [{ orders: { include: { lines: { include: { order: { include: { lines: true } } } } } } }, "at most 3 levels deep"],
  ])("refuses %j with an explanation", async (include, sentence) => {
    const { status, body } = await read("customers?", include);
    expect([status, (body as { message: string }).message]).toEqual([400, expect.stringContaining(sentence)]);
  });
});
