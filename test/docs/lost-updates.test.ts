import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServableApp } from "../../src/adapters/node/index.ts";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

interface Product {
  readonly id: string;
  readonly name: string;
  readonly left: number;
  readonly version: number;
}

let guide: Page;
let url = "";
let close: () => Promise<void>;

beforeAll(async () => {
  guide = openPage("guides/lost-updates");
  const { api } = await guide.load<{ api: ServableApp }>("stock.ts");
  ({ url, close } = await startApp(api));
});
afterAll(async () => {
  await close();
  guide.remove();
});
const path = "/api/products/p1";
const read = () => request(url, "GET", path);

describe("docs/guides/lost-updates.md", () => {
  it("accepts the first of two writers, and shows the error of the other", async () => {
    const first = await read();
    expect(first.headers.get("etag")).toMatch(/^"1\./);
    const patch = () => request(url, "PATCH", path, { body: { left: 8 }, headers: { "if-match": '"1"' } });
    expect((await patch()).json).toMatchObject({ left: 8, version: 2 });
    const { status, json } = await patch();
    expect(status).toBe(412);
    const shown = JSON.parse(/```json\n([^`]+)```/.exec(guide.text)?.[1] as string);
    expect({ ...json, requestId: shown.requestId }).toEqual(shown);
  });

  it("has the real table of conditions", async () => {
    const statusOf = async (method: string, below: string, header: string, value: string) => {
      const { version } = (await read()).json as Product;
      const body = method === "PATCH" ? { name: "Rope" } : undefined;
      const headers = { [header]: value.replace("now", String(version)) };
      return (await request(url, method, path + below, { body, headers })).status;
    };
    for (const [method, below] of [
      ["PATCH", ""],
      ["POST", "/toggle-onSale"],
      ["GET", ""],
    ] as const) {
      const isRead = method === "GET";
      const statuses = [
        await statusOf(method, below, "if-match", '"now"'),
        await statusOf(method, below, "if-match", '"1"'),
        await statusOf(method, below, "if-match", "*"),
        await statusOf(method, below, "if-none-match", '"now"'),
        await statusOf(method, below, "if-none-match", '"1"'),
        await statusOf(method, below, "if-none-match", "*"),
        await statusOf(method, below, "if-match", 'W/"now"'),
        await statusOf(method, below, "if-match", "now"),
      ];
      expect(statuses).toEqual([200, 412, 200, isRead ? 200 : 412, 200, isRead ? 304 : 412, 412, 400]);
    }
  });

  it("sells, renames and restocks", async () => {
    const { sell, rename } = await guide.load<{
      sell(baseUrl: string, id: string, pieces: number): Promise<Product>;
      rename(baseUrl: string, id: string, name: string, ifVersion: number): Promise<Product>;
    }>("browser.ts");
    const { restock } = await guide.load<{ restock(id: string, pieces: number): Promise<Product> }>("job.ts");
    const before = (await read()).json as Product;
    const sold = await sell(`${url}/api`, "p1", 2);
    expect([sold.left, sold.version]).toEqual([before.left - 2, before.version + 1]);
    await expect(rename(`${url}/api`, "p1", "Line", before.version)).rejects.toMatchObject({ status: 412 });
    expect((await rename(`${url}/api`, "p1", "Line", sold.version)).name).toBe("Line");
    expect((await restock("p1", 5)).left).toBe(sold.left + 5);
  });
});
