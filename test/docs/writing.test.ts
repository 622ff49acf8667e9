import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Keelson } from "../../src/index.ts";
import { openPage, type Page } from "../support/page.ts";

type Row = Record<string, unknown>;

let guide: Page;
let api: Keelson;

beforeAll(async () => {
  guide = openPage("guides/writing");
  ({ api } = await guide.load<{ api: Keelson }>("shop.ts"));
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

/** The requests of the page, in order. */
function requests(): [method: string, path: string, body: string][] {
  const found = [...guide.text.matchAll(/^```http\n(\w+) (\S+)\n```\n\n```json\n([\s\S]*?)^```/gm)];
  return found.map(([, method = "", path = "", body = ""]) => [method, path, body]);
}

describe("docs/guides/writing.md", () => {
  it("has requests with the documented results", async () => {
    const [create, change, upsert, batch, ...others] = requests();
    expect(others).toEqual([]);
    const made = await send(...(create as [string, string, string]));
    expect([made.status, made.body]).toMatchObject([
      201,
      { customer: { name: "Bob" }, lines: [{ sku: "bolt" }, { sku: "nut" }], tags: [{ word: "gift" }] },
    ]);
    const [method = "", path = "", body] = change ?? [];
    const changed = await send(method, `${path.replace("<id>", String(made.body.id))}?include=lines,tags`, body);
    expect([changed.status, changed.body]).toMatchObject([200, { tags: [] }]);
    const lines = changed.body.lines as { sku: string; quantity: number }[];
    expect(lines.map(({ sku, quantity }) => `${quantity} ${sku}`).sort()).toEqual(["3 nut", "4 bolt", "6 washer"]);
    expect(await send(...(upsert as [string, string, string]))).toMatchObject({
      status: 200,
      body: { id: "ann", name: "Ann Lee" },
    });
    const answer = await send(...(batch as [string, string, string]));
    const items = answer.body as unknown as { status: number; body: Record<string, unknown> }[];
    expect([answer.status, items.map(({ status }) => status)]).toEqual([200, [201, 201, 200]]);
    expect(items[2]?.body).toMatchObject({ id: items[0]?.body.id, total: "0.20" });
  });

  it("names the place of a failure as the page does", async () => {
    const place = /names its place: `([^`]+)`/.exec(guide.text)?.[1] as string;
    const wrong = {
      number: "x",
      customerId: "ann",
      lines: {
        create: [
          { sku: "a", quantity: 1 },
          { sku: "b", quantity: 0 },
        ],
      },
    };
    expect(Object.keys((await send("POST", "/api/orders", JSON.stringify(wrong))).body.errors as object)).toEqual([
      place,
    ]);
  });

  it("shows the same writes in code", async () => {
    const { checkout } = await guide.load<{ checkout(): Promise<string[]> }>("checkout.ts");
    expect(await checkout()).toEqual(["2 bolt", "2 nut", "1 screw"]);
  });

  it("sends a batch from the client", async () => {
    const { orderAndLine } = await guide.load<{ orderAndLine(): Promise<Record<"order" | "line", Row>> }>("batch.ts");
    const { order, line } = await orderAndLine();
    expect([order.number, line.orderId]).toEqual(["10", order.id]);
  });
});
