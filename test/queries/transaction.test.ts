import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPlugin, entity, memoryDriver, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";
import { openShop, refillShop, SHOP, type Shop } from "./shop.ts";

const placedAt = new Date("2026-05-01T00:00:00Z");
const ANN = { id: "ann", role: "customer" };

describe.each(everyDatabase(SHOP, 0))("an in-process transaction, on %s", (_name, open) => {
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

  const orders = () => shop.app.api.asSystem().order.count();

  it("commits the writes of all its callers, and returns the result of the work", async () => {
    const { api } = shop.app;
    const id = await api.transaction(async (tx) => {
      const order = await tx.as(ANN).order.create({ number: "t1", placedAt, customerId: "ann" });
      await tx.asSystem().line.create({ sku: "a", quantity: 1, orderId: order.id });
      expect(await tx.as(ANN).line.count({ orderId: order.id })).toBe(1);
      return order.id;
    });
    expect(await api.as(ANN).line.count({ orderId: id })).toBe(1);
  });

  it("commits nothing when the work throws", async () => {
    const before = await orders();
    const work = shop.app.api.transaction(async (tx) => {
      await tx.as(ANN).order.create({ number: "t2", placedAt, customerId: "ann" });
      throw new RangeError("enough");
    });
    await expect(work).rejects.toThrow(new RangeError("enough"));
    expect(await orders()).toBe(before);
  });

  it("gives each caller their own rights", async () => {
    const work = shop.app.api.transaction(async (tx) => {
      await tx.asSystem().tag.create({ word: "fresh" });
      await tx.as(ANN).order.create({ number: "t3", placedAt, customerId: "bob" });
    });
    await expect(work).rejects.toMatchObject({ status: 403 });
    expect(await shop.app.api.asSystem().tag.count({ word: "fresh" })).toBe(0);
    const { data } = await shop.app.api.transaction((tx) => tx.as(ANN).order.list());
    expect(new Set(data.map(({ customerId }) => customerId))).toEqual(new Set(["ann"]));
  });

  it("writes nothing after its end", async () => {
    const { api } = shop.app;
    const late = await api.transaction(async (tx) => ({ client: tx.asSystem().tag }));
    await expect(late.client.create({ word: "late" })).rejects.toThrow();
    expect(await api.asSystem().tag.count({ word: "late" })).toBe(0);
  });

  it("makes two of them that change one record take turns", async () => {
    const { api } = shop.app;
    const add = () =>
      api.transaction(async (tx) => {
        const { customer } = tx.asSystem();
        await customer.update("ann", { city: "locked" });
        const { rating = 0 } = await customer.get("ann");
        await customer.update("ann", { rating: rating + 1 });
      });
    const { rating = 0 } = await api.asSystem().customer.get("ann");
    await Promise.all(Array.from({ length: 6 }, add));
    expect((await api.asSystem().customer.get("ann")).rating).toBe(rating + 6);
  });
});

describe("hooks after the commit of an in-process transaction", () => {
  it("have the rights of the caller who wrote", async () => {
    const seen: string[] = [];
    const watch = createPlugin({
      id: "watch",
      version: "1.0.0",
      setup({ hooks }) {
        hooks.on("operation:committed", ({ scope }) => {
          seen.push(scope.principal.user?.id ?? scope.principal.kind);
        });
      },
    });
    const note = entity("note", { text: string }).rules({ create: ["authenticated"] });
    const { api, close } = createTestApp({ entities: [note], driver: memoryDriver(), plugins: [watch] });
    onTestFinished(() => close());
    await api.transaction(async (tx) => {
      await tx.as(ANN).note.create({ text: "hers" });
      await tx.asSystem().note.create({ text: "ours" });
    });
    expect(seen).toEqual(["ann", "system"]);
  });
});
