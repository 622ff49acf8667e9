import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATORS } from "../../src/entity/index.ts";
import type { Keelson } from "../../src/index.ts";
import { openPage, type Page } from "../support/page.ts";

let guide: Page;
let api: Keelson;

beforeAll(async () => {
  guide = openPage("guides/queries");
  ({ api } = await guide.load<{ api: Keelson }>("shop.ts"));
  await api.ready;
});
afterAll(async () => {
  await api.close();
  guide.remove();
});

async function get(path: string): Promise<Record<string, unknown>[]> {
  const response = await api.fetch(new Request(`http://localhost${path}`));
  const body = (await response.json()) as Record<string, unknown>[];
  expect([response.status, body]).toEqual([200, expect.any(Array)]);
  return body;
}

describe("docs/guides/queries.md", () => {
  it("shows which records its requests find", async () => {
    const shown = [...guide.text.matchAll(/^GET (\S+)\n→ (.*)$/gm)];
    expect(shown.length).toBeGreaterThan(5);
    for (const [, path, ids] of shown) expect((await get(path as string)).map(({ id }) => id).join(" ")).toBe(ids);
  });

  it("names every operator", () => {
    const [, named] = /operators: `([^`]+)`/.exec(guide.text) ?? [];
    expect(named).toBe(Object.keys(OPERATORS).join(" "));
  });

  it("shows its real JSON responses", async () => {
    const answers = [...guide.text.matchAll(/^GET (\S+)\n(?:→ .*\n)?```\n\n```json\n([\s\S]*?)^```/gm)];
    expect(answers).toHaveLength(2);
    for (const [, path, json] of answers) expect(await get(path as string)).toMatchObject(JSON.parse(json as string));
  });

  it("names known parameters", async () => {
    const named = [...guide.text.matchAll(/^\| `([^`]+)`/gm)].map(([, code]) => code as string);
    const isPlain = /^(?:state|total|number|_sort=-total|_page|_start=|_total)/;
    const tried = named.filter((code) => isPlain.test(code));
    expect(tried.length).toBeGreaterThan(6);
    for (const code of tried) await get(`/api/orders?${code}`);
    await get("/api/customers?name_like=nn&city_null=false");
  });

  it("shows the same queries in code", async () => {
    const { report } = await guide.load<{ report(): Promise<unknown> }>("report.ts");
    expect(await report()).toEqual({
      names: ["Ann: 2"],
      months: [{ "month(placedAt)": "2026-02-01", sum: { total: "35.30" } }],
    });
  });
});
