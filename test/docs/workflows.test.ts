import { dirname } from "node:path";
import type { Keelson } from "keelson";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;

beforeAll(() => {
  guide = openPage("guides/workflows");
});
afterAll(() => guide.remove());

describe("docs/guides/workflows.md", () => {
  it("accepts an order over HTTP, and refuses one without enough stock", async () => {
    const folder = dirname(guide.file("orders.ts"));
    const before = process.cwd();
    process.chdir(folder); // the default database is a file below
    const { api } = await guide.load<{ api: Keelson }>("orders.ts");
    const { url, close } = await startApp(api);
    const system = api.asSystem() as unknown as Record<string, { create(data: object): Promise<unknown> }>;
    await system.person?.create({ id: "ann", name: "Ann" });
    await system.product?.create({ id: "tea", name: "Tea", price: 450, stock: 3 });
    const body = { productId: "tea", count: 2, card: "4242424242424242" };
    const placed = await request(url, "POST", "/api/orders/place", { token: "ann", body });
    expect([placed.status, placed.json.status, placed.json.total]).toEqual([200, "paid", 900]);
    const refused = await request(url, "POST", "/api/orders/place", { token: "ann", body });
    expect([refused.status, refused.json.message]).toEqual([409, "Not enough of it is left"]);
    expect((await request(url, "GET", "/api/products/tea")).json.stock).toBe(1);
    await close();
    process.chdir(before);
  });

  it("compensates in memory", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    await guide.load("executeWorkflow(");
    expect(log.mock.calls).toEqual([["untie a knot"], [false, "compensated", "lift", ["tie"], "too heavy"]]);
    log.mockRestore();
  });
});
