import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Keelson } from "../../src/index.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let api: Keelson;

beforeAll(async () => {
  guide = openPage("guides/kinds");
  ({ api } = await guide.load<{ api: Keelson }>("ledger.ts"));
  await api.ready;
});
afterAll(async () => {
  await api.close();
  guide.remove();
});

async function send(method: string, path: string, body?: string) {
  const init = body === undefined ? {} : { body, headers: { "content-type": "application/json" } };
  const response = await api.fetch(new Request(`http://localhost${path}`, { method, ...init }));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("docs/guides/kinds.md", () => {
  it("shows what is stored, and finds it by value", async () => {
    const body = /-d '(\{.*\})'/.exec(guide.text)?.[1] as string;
    const shown = /# 201 (\{.*\})/.exec(guide.text)?.[1] as string;
    const pairs = [...shown.matchAll(/"(\w+)":"([^"]*)"/g)].map(([, name, value]) => [name, value]);
    const created = await send("POST", "/api/payments", body);
    expect(created).toMatchObject({ status: 201, body: Object.fromEntries(pairs) });
    const path = /curl -s 'localhost:3000([^']*)'/.exec(guide.text)?.[1] as string;
    expect((await send("GET", path)).body).toMatchObject([{ reference: "a-1" }]);
  });

  it.each([
    ["amount", "0"],
    ["amount", "19.905"],
    ["dueOn", "2024-02-30"],
    ["batch", "x"],
  ])("refuses %s %s with the field's name", async (name, value) => {
    const given = { reference: "b", amount: "1", dueOn: "2024-05-31", [name]: value };
    const { status, body } = await send("POST", "/api/payments", JSON.stringify(given));
    expect([status, Object.keys(body.errors as object)]).toEqual([400, [name]]);
  });
});
