import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Keelson } from "keelson";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { compileProblems, type Guide, openGuide } from "../support/guide.ts";
import { request, startApp } from "../support/http.ts";

let guide: Guide;

beforeAll(() => {
  guide = openGuide("workflows");
  // The page calls its files by name.
  for (const [i, name] of ["place-order.ts", "orders.ts"].entries())
    writeFileSync(join(dirname(guide.files[i] as string), name), readFileSync(guide.files[i] as string, "utf8"));
});
afterAll(() => guide.remove());

describe("docs/guides/workflows.md", () => {
  it("has blocks that compile as they stand", () => {
    expect(guide.files).toHaveLength(4);
    expect(compileProblems(guide.files)).toEqual([]);
  }, 120_000);

  it("takes an order over HTTP, and none when there is not enough", async () => {
    const folder = dirname(guide.files[0] as string);
    const before = process.cwd();
    process.chdir(folder); // the default database is a file below
    const { api } = (await import(pathToFileURL(join(folder, "orders.ts")).href)) as { api: Keelson };
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

  it("takes back in memory", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    await import(pathToFileURL(guide.files[2] as string).href);
    expect(log.mock.calls).toEqual([["untie a knot"], [false, "compensated", "lift", ["tie"], "too heavy"]]);
    log.mockRestore();
  });
});
