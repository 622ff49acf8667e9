import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { action, bool, type Driver, entity, json, text, toggleAction } from "../../src/index.ts";
import { rateLimit } from "../../src/plugins/rate-limit/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { openShop, refillShop, SHOP, type Shop } from "./shop.ts";

const PLACED = "2026-05-01T00:00:00.000Z";

describe.each(everyDatabase(SHOP, 1))("a batch, on %s", (_name, open) => {
  let database: TestDatabase;
  let shop: Shop;
  beforeAll(async () => {
    database = await open();
    shop = await openShop(database.driver);
  });
  afterEach(() => refillShop(shop));
  afterAll(async () => {
    await shop?.app.close();
    await database?.drop();
  });

  const send = async (items: unknown, caller = shop.staff, headers = {}) => {
    const { status, body } = await caller.request("POST", "/api/batch", items, headers);
    return { status, body: body as Record<string, unknown> & { status: number; body: Record<string, unknown> }[] };
  };
  const order = { number: "b1", placedAt: PLACED, customerId: "ann" };
  const counts = async () => {
    const { order: orders, line, tag } = shop.app.api.asSystem();
    return [await orders.count(), await line.count(), await tag.count()];
  };

  it("makes several changes, each with its own result", async () => {
    const { status, body } = await send([
      { method: "POST", path: "/orders", body: order },
      { method: "POST", path: "/lines", body: { sku: "a", quantity: 2, orderId: "$0.id" } },
      { method: "PATCH", path: "/orders/$0.id?include=lines", body: { state: "paid" } },
      { method: "PUT", path: "/tags?_on=word", body: { word: "$$0.id" } },
      { method: "DELETE", path: "/lines/$1.id" },
    ]);
    expect([status, body.map((answer) => answer.status)]).toEqual([200, [201, 201, 200, 201, 200]]);
    const [made, line, changed, tag] = body;
    expect(made).toMatchObject({ headers: { location: `/api/orders/${made?.body.id}` } });
    expect(changed?.body).toMatchObject({ state: "paid", lines: [{ id: line?.body.id, orderId: made?.body.id }] });
    expect(tag?.body.word).toBe("$0.id");
    expect(await counts()).toEqual([13, 18, 3]);
  });

  it("stores nothing if one item fails, and says which one", async () => {
    const before = await counts();
    const failing: readonly [Record<string, unknown>, number][] = [
      [{ method: "POST", path: "/lines", body: { sku: "a", quantity: 0, orderId: "$0.id" } }, 400],
      [{ method: "POST", path: "/tags", body: { word: "gift" } }, 409],
      [{ method: "PATCH", path: "/orders/none", body: {} }, 404],
      [{ method: "POST", path: "/nothing", body: {} }, 404],
      [{ method: "PUT", path: "/nothing/else", body: {} }, 404],
    ];
    for (const [item, expected] of failing) {
      const { status, body } = await send([{ method: "POST", path: "/orders", body: order }, item]);
      expect([status, body.message]).toEqual([expected, expect.stringMatching(/^Item 1: /)]);
    }
    expect(await counts()).toEqual(before);
  });

  it("grants no right that single requests do not have", async () => {
    const before = await counts();
    const mine = { method: "PATCH", path: "/orders/o00", body: { state: "paid" } };
    const theirs = { method: "PATCH", path: "/orders/o01", body: { state: "paid" } };
    expect((await send([mine, theirs], shop.ann)).status).toBe(403);
    expect((await send([{ method: "DELETE", path: "/orders/o00" }], shop.ann)).status).toBe(403);
    expect((await send([{ method: "POST", path: "/tags", body: { word: "x" } }], shop.anonymous)).status).toBe(401);
    expect(await counts()).toEqual(before);
    expect((await shop.app.api.asSystem().order.get("o00")).state).toBe("open");
  });

  it.each<[unknown, string]>([
    [{}, "a list of items"],
    [[1], "Item 0: an item is an object"],
    [[{ method: "GET", path: "/orders" }], "Item 0: the method is one of"],
    [[{ method: "POST", path: "orders" }], 'Item 0: the path begins with "/"'],
    [[{ method: "POST", path: "/orders", data: {} }], 'Item 0: an item has no "data"'],
    [
      [{ method: "POST", path: "/orders", body: { number: "$0.id" } }],
      '"$0.id" is not a value in the response of an earlier item',
    ],
    [[{ method: "POST", path: "/orders", headers: { cookie: "a" } }], 'not "cookie"'],
    [[{ method: "POST", path: "/../batch", body: [] }], "Item 0: "],
    [Array.from({ length: 101 }, () => ({ method: "POST", path: "/tags", body: {} })), "at most 100 items"],
  ])("refuses %j with an explanation", async (items, sentence) => {
    const { status, body } = await send(items);
    expect([status >= 400 && status < 500, body.message]).toEqual([true, expect.stringContaining(sentence)]);
  });

  it("of parallel callers that change the same records in any order does not deadlock", async () => {
    const ids = ["o00", "o01", "o02", "o03"];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const order = index % 2 === 0 ? ids : ids.toReversed();
        return send(order.map((id) => ({ method: "PATCH", path: `/orders/${id}`, body: { total: `${index}.00` } })));
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { data } = await shop.app.api.asSystem().order.list({ where: { id: ids } });
    expect(new Set(data.map(({ total }) => total)).size).toBe(1);
  });

  it("of parallel callers that name the same records in bodies does not deadlock", async () => {
    const words = await Promise.all(
      Array.from({ length: 5 }, async (_, index) => shop.app.api.asSystem().tag.create({ word: `w${index}` })),
    );
    const ids = words.map(({ id }) => id);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const order = index % 2 === 0 ? ids : ids.toReversed();
        return send(
          order.map((id, at) => ({
            method: "POST",
            path: "/orders",
            body: { number: `${index} ${at}`, placedAt: PLACED, customerId: "ann", tags: { connect: [id] } },
          })),
        );
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("a batch under limits", () => {
  it("counts each of its items for the item's own quota", async () => {
    const policies = [{ name: "tags", limit: 3, window: 60, by: "address" as const, for: { entity: "tag" } }];
    const app = createTestApp({ entities: SHOP, plugins: [rateLimit({ policies })] });
    onTestFinished(() => app.close());
    await app.api.ready;
    const caller = app.as({ id: "eve", role: "staff" });
    const items = ["a", "b", "c", "d"].map((word) => ({ method: "POST", path: "/tags", body: { word } }));
    expect((await caller.request("POST", "/api/batch", items.slice(0, 2))).status).toBe(200);
    const { status, body } = await caller.request("POST", "/api/batch", items.slice(2));
    expect([status, (body as { message: string }).message]).toEqual([429, expect.stringMatching(/^Item 1: /)]);
    expect(await app.api.asSystem().tag.count()).toBe(2);
  });

  it("limits the size of references to earlier results to that of a body", async () => {
    const note = entity("note", { body: text, more: json.optional() }).rules({
      create: ["everyone"],
      read: ["everyone"],
      update: ["everyone"],
    });
    const app = createTestApp({ entities: [note] });
    onTestFinished(() => app.close());
    await app.api.ready;
    const long = { method: "POST", path: "/notes", body: { body: "x".repeat(100_000) } };
    const many = Array.from({ length: 12 }, () => "$0.body");
    for (const [second, sentence] of [
      [{ method: "POST", path: "/notes", body: { body: "y", more: many } }, "at most 1048576 characters"],
      [{ method: "PATCH", path: `/notes/${many.join("")}`, body: {} }, "too long to be part of a path"],
    ] as const) {
      const { status, body } = await app.as(null).request("POST", "/api/batch", [long, second]);
      expect([status, (body as { message: string }).message]).toEqual([400, expect.stringContaining(sentence)]);
    }
    expect(await app.api.asSystem().note.count()).toBe(0);
  });

  it("accepts only actions that declare that they only use the database", async () => {
    const sent: string[] = [];
    const pay = async ({ record: { id }, driver }: { record: { id: string }; driver: Driver }) => {
      sent.push(id);
      await driver.update("account", { id }, { isPaid: true });
    };
    const account = entity("account", { isPaid: bool.default(false), isOld: bool.default(false) })
      .rules({ create: ["everyone"], read: ["everyone"], update: ["everyone"] })
      .actions({
        payOut: action().onResource().handler(pay),
        book: action().onResource().transactional().handler(pay),
        toggleOld: toggleAction("isOld"),
      });
    const app = createTestApp({ entities: [account] });
    onTestFinished(() => app.close());
    await app.api.ready;
    await app.api.asSystem().account.create({ id: "a1" });
    const send = async (...paths: string[]) => {
      const items = paths.map((path) => ({ method: "POST", path: `/accounts/${path}`, body: {} }));
      const { status, body } = await app.as(null).request("POST", "/api/batch", items);
      return [status, (body as { message?: string }).message];
    };
    expect(await send("a1/payOut", "none/payOut")).toEqual([400, 'Item 0: "payOut" cannot be part of a batch']);
    expect(sent).toEqual([]);
    expect(await send("a1/toggle-isOld", "a1/book")).toEqual([200, undefined]);
    expect(await app.api.asSystem().account.get("a1")).toMatchObject({ isPaid: true, isOld: true });
  });
});
