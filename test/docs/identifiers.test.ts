import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Keelson } from "../../src/index.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let api: Keelson;

beforeAll(async () => {
  guide = openPage("guides/identifiers");
  ({ api } = await guide.load<{ api: Keelson }>("shop.ts"));
  await api.ready;
});
afterAll(async () => {
  await api.close();
  guide.remove();
});

async function send(method: string, path: string, body?: unknown) {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await api.fetch(new Request(`http://localhost/api/${path}`, { method, ...init }));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("docs/guides/identifiers.md", () => {
  it("has ids of each kind", async () => {
    expect(await send("POST", "countries", { id: "de", name: "Germany" })).toMatchObject({
      status: 201,
      body: { id: "de" },
    });
    const customer = await send("POST", "customers", { name: "Ann", countryId: "de" });
    expect(customer).toMatchObject({ status: 201, body: { id: 1, countryId: "de" } });
    const order = await send("POST", "orders", { customerId: 1 });
    expect(order.body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const line = await send("POST", "lines", { orderId: order.body.id, position: 1, sku: "a" });
    expect(line.body.id).toBe(`${order.body.id}~1`);
    expect(await send("GET", `lines/${line.body.id}`)).toMatchObject({ status: 200, body: { sku: "a" } });
    expect((await send("GET", "customers/abc")).status).toBe(404);
    expect((await send("POST", "countries", { name: "Nowhere" })).status).toBe(400);
  });
});
