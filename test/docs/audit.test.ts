import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Keelson } from "../../src/index.ts";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let api: Keelson;
let url = "";
let close: () => Promise<void>;

beforeAll(async () => {
  guide = openPage("guides/audit");
  ({ api } = await guide.load<{ api: Keelson }>("orders.ts"));
  ({ url, close } = await startApp(api));
});
afterAll(async () => {
  await close();
  guide.remove();
});

describe("docs/guides/audit.md", () => {
  it("shows the real entry of an action", async () => {
    const { customer, order } = api.asSystem() as unknown as Record<string, { create(data: object): Promise<unknown> }>;
    await customer?.create({ id: "c1", name: "Cleo", card: "4111 1111", credit: 5 });
    await order?.create({ id: "o1", item: "rope", customerId: "c1" });
    const paid = await request(url, "POST", "/api/orders/o1/toggle-paid", { token: "ann" });
    const path = /localhost:3000(\/api\/audit-entries[^']*)/.exec(guide.text)?.[1] as string;
    const { json } = await request(url, "GET", path, { token: "root" });
    const [shown] = JSON.parse(/```json\n([^`]+)```/.exec(guide.text)?.[1] as string);
    expect({ ...json[0], id: shown.id, at: shown.at, requestId: shown.requestId }).toEqual(shown);
    expect(json[0].requestId).toBe(paid.headers.get("x-request-id"));
    expect(json).toHaveLength(2);
  });

  it("has a table with the entity's fields", () => {
    const table = /\| field \|[\s\S]*?\n\n/.exec(guide.text)?.[0] ?? "";
    const named = [...table.matchAll(/`(\w+)`(?=[^|]*\|[^|]*\|\n)/g)].map(([, name]) => name);
    const fields = Object.keys(api.entities.auditEntry?.fields ?? {});
    expect([...new Set(named)].filter((name) => fields.includes(name as string)).sort()).toEqual(fields.sort());
  });

  it("stores no card data, and shows the credit to permitted callers", async () => {
    const entries = await api.driver.findMany("auditEntry", { where: { entity: "customer" } });
    expect(JSON.stringify(entries)).not.toContain("4111 1111");
    const { json } = await request(url, "GET", "/api/audit-entries?entity=customer", { token: "root" });
    expect(json).toMatchObject([{ changed: ["name", "card", "credit"], after: { name: "Cleo", credit: 5 } }]);
  });
});
