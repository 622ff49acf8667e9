import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, KeelsonClientError } from "../../src/client/index.ts";
import { bool, entity, int, keelson, memoryDriver, string } from "../../src/index.ts";
import { startApp } from "../support/http.ts";

const order = entity("order", { number: string.unique(), paid: bool.default(false) })
  .versioned()
  .rules({ create: ["authenticated"], read: ["everyone"], update: ["authenticated"], delete: ["authenticated"] });
const line = entity("orderLine", { text: string, orderId: string, quantity: int.default(1) }).rules({
  create: ["authenticated"],
  read: ["everyone"],
});

async function openShop() {
  const api = keelson({ entities: [order, line], driver: memoryDriver(), getUser: () => ({ id: "ann" }) });
  const { url, close } = await startApp(api);
  return { api, close, client: createClient<typeof api>({ baseUrl: `${url}/api` }) };
}

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

describe("the client's upsert", () => {
  it("creates a record, and updates the one that has the key", async () => {
    const made = await shop.client.order.upsert({ number: "u1" }, { on: "number" });
    const changed = await shop.client.order.upsert({ number: "u1", paid: true }, { on: ["number"] });
    expect([changed.id, changed.paid]).toEqual([made.id, true]);
  });
});

describe("the client's batch", () => {
  it("returns the requested results, in that order", async () => {
    const [later, first] = await shop.client.$batch((tx) => {
      const made = tx.order.create({ number: "b1" });
      tx.orderLine.create({ text: "not asked for", orderId: made.id });
      return [tx.order.update(made.id, { paid: true }, { ifVersion: 1 }), made];
    });
    expect(first).toMatchObject({ number: "b1", paid: false });
    expect(later).toMatchObject({ id: first.id, paid: true });
    expect(await shop.client.orderLine.count({ orderId: first.id })).toBe(1);
  });

  it("makes no change when one of them is refused, and names it", async () => {
    const sent = shop.client.$batch((tx) => [tx.order.create({ number: "b2" }), tx.order.create({ number: "b2" })]);
    await expect(sent).rejects.toThrow(KeelsonClientError);
    await expect(sent).rejects.toMatchObject({ status: 409, message: expect.stringMatching(/^Item 1: /) });
    expect(await shop.client.order.count({ number: "b2" })).toBe(0);
  });

  it("sends texts unchanged, also those that look like references", async () => {
    const texts = ["$0.id", "$$0.id", "$", "$$", "0.1.0", "a $0.id"];
    const answers = await shop.client.$batch((tx) => texts.map((text) => tx.orderLine.create({ text, orderId: "o" })));
    expect(answers.map(({ text }) => text)).toEqual(texts);
  });

  it("sends texts of any object unchanged", async () => {
    const { groups } = /(?<text>.+)/.exec("$0.id") as RegExpExecArray; // an object without a prototype
    class Line {
      text = "$0.id";
    }
    const price = { toJSON: () => "$0.id" } as never;
    const [, ...answers] = await shop.client.$batch((tx) => [
      tx.order.create({ number: "b5" }),
      tx.orderLine.create({ text: price, orderId: "o" }),
      tx.orderLine.create(Object.assign(new Line(), { orderId: "o" })),
      tx.orderLine.create(Object.assign(groups as { text: string }, { orderId: "o" })),
    ]);
    expect(answers.map((line) => (line as { text: string }).text)).toEqual(["$0.id", "$0.id", "$0.id"]);
  });

  it("deletes, and accepts ids that need escaping", async () => {
    const id = "a b $1.id";
    await shop.api.asSystem().order.create({ id, number: "b3" });
    const [gone] = await shop.client.$batch((tx) => [tx.order.delete(id)]);
    expect([gone, await shop.client.order.count({ number: "b3" })]).toEqual([{ id, success: true }, 0]);
  });

  it("refuses a change of another batch, and an empty id", async () => {
    let other: { readonly id: string } | undefined;
    await shop.client.$batch((tx) => {
      other = tx.order.upsert({ number: "b4" }, { on: "number" });
      return [];
    });
    const { count } = shop.client.orderLine;
    const before = await count();
    await expect(shop.client.$batch(() => [other as never])).rejects.toThrow("changes of its own");
    await expect(shop.client.$batch((tx) => [tx.order.delete("")])).rejects.toThrow("An id is needed");
    expect(await count()).toBe(before);
  });

  it("is typed by the entities", () => {
    const batch = shop.client.$batch;
    // @ts-expect-error a field that the entity does not have
    void ((tx: Parameters<Parameters<typeof batch>[0]>[0]) => tx.order.create({ number: "x", nothing: 1 }));
    expect(batch).toBeTypeOf("function");
  });
});
