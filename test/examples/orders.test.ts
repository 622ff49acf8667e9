import { type Driver, memoryDriver, noopLogger } from "keelson";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createOrders } from "../../examples/orders/api.ts";
import { createBank } from "../../examples/orders/bank.ts";
import { embedded } from "../../src/index.ts";
import { freshSqliteFile } from "../support/databases.ts";
import { request, startApp } from "../support/http.ts";

const databases: Readonly<Record<string, () => Promise<{ driver: Driver; remove(): Promise<void> }>>> = {
  async memory() {
    return { driver: memoryDriver(), remove: async () => {} };
  },
  async SQLite() {
    const { file, remove } = await freshSqliteFile();
    return { driver: embedded({ file }), remove };
  },
};

describe.each(Object.entries(databases))("an order, on %s", (_, open) => {
  const bank = createBank();
  let api: ReturnType<typeof createOrders>;
  let url = "";
  let close: () => Promise<void>;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const database = await open();
    remove = database.remove;
    api = createOrders({
      bank,
      driver: database.driver,
      logger: noopLogger,
      getUser: ({ headers }) => {
        const id = headers.get("authorization")?.slice("Bearer ".length);
        return id === undefined ? null : { id };
      },
    });
    ({ url, close } = await startApp(api));
    await api.asSystem().person.create({ id: "ann", name: "Ann" });
    await api.asSystem().product.create({ id: "tea", name: "Tea", price: 450, stock: 3 });
  });
  afterAll(async () => {
    await close();
    await remove();
  });
  beforeEach(async () => {
    const { data } = await api.asSystem().order.list();
    for (const { id } of data) await api.asSystem().order.delete(id);
    await api.asSystem().product.update("tea", { stock: 3 });
  });

  const place = (count: number, card = "4242424242424242") =>
    request(url, "POST", "/api/orders/place", { token: "ann", body: { productId: "tea", count, card } });
  const stock = async () => (await api.asSystem().product.get("tea")).stock;

  it("takes from the stock, charges the card and is paid", async () => {
    const { status, json } = await place(2);
    expect([status, json.status, json.total, json.customerId]).toEqual([200, "paid", 900, "ann"]);
    expect(await stock()).toBe(1);
    expect([...bank.payments.values()].at(-1)).toMatchObject({ id: json.payment, amount: 900, refunded: false });
  });

  it("leaves no changes when the payment is declined", async () => {
    const { status, json } = await place(2, "0000000000000000");
    expect([status, json.message]).toEqual([409, "The card was refused"]);
    expect([await stock(), await api.asSystem().order.count()]).toEqual([3, 0]);
  });

  it("is refused when the stock is too low, with any number of parallel orders", async () => {
    const answers = await Promise.all([place(2), place(2), place(2)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect([await stock(), await api.asSystem().order.count()]).toEqual([1, 1]);
  });

  it("is the only way for a customer to change a stock", async () => {
    const body = { stock: 1000 };
    expect((await request(url, "PUT", "/api/products/tea", { token: "ann", body })).status).toBe(403);
  });
});
