import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keelson, memoryDriver, noopLogger } from "../../src/index.ts";
import { completeOptions } from "../../src/plugins/idempotency/idempotency-options.ts";
import { idempotency } from "../../src/plugins/idempotency/index.ts";
import { request, startApp } from "../support/http.ts";
import { openPage, type Page } from "../support/page.ts";

type Api = Parameters<typeof startApp>[0] & ReturnType<typeof keelson>;

let guide: Page;
let url = "";
let close: () => Promise<void>;
let charges: ReadonlyMap<string, number>;

beforeAll(async () => {
  guide = openPage("guides/retries");
  const shop = await guide.load<{ api: Api; charges: ReadonlyMap<string, number> }>("shop.ts");
  charges = shop.charges;
  ({ url, close } = await startApp(shop.api));
});
afterAll(async () => {
  await close();
  guide.remove();
});

const send = (method: string, path: string, key?: string, body: unknown = { item: "rope", pieces: 2 }) =>
  request(url, method, path, { token: "ann", body, headers: key === undefined ? {} : { "idempotency-key": key } });

describe("docs/guides/retries.md", () => {
  it("shows a repeated request", async () => {
    const key = /'Idempotency-Key: ([^']+)'/.exec(guide.text)?.[1] as string;
    const first = await send("POST", "/api/orders", key);
    const second = await send("POST", "/api/orders", key);
    expect([first.status, second.status, second.headers.get("idempotency-replayed")]).toEqual([201, 201, "true"]);
    expect(second.json).toEqual(first.json);
  });

  it("charges once for repeated payments with the same key", async () => {
    const { json } = await send("POST", "/api/orders");
    const path = `/api/orders/${json.id}/pay`;
    for (let i = 0; i < 2; i++) expect((await send("POST", path, "p1", { amount: 30 })).json.paid).toBe(30);
    expect([...charges.values()]).toEqual([30]);
  });

  it("has the real table of responses", async () => {
    const { json } = await send("POST", "/api/orders", "t1");
    const codes = [
      (await send("POST", "/api/orders", "t1", { item: "sail", pieces: 1 })).json.code,
      (await send("POST", `/api/orders/${json.id}/pay`, undefined, { amount: 1 })).json.code,
      (await send("POST", "/api/orders", "a b")).json.code,
    ];
    expect(codes).toEqual(["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_REQUIRED", "BAD_REQUEST"]);
    for (const code of codes) expect(guide.text).toContain(`\`${code}\``);
  });

  it("lists the options with their defaults", () => {
    const rows = guide.text.split("\n").flatMap((line) => /^\| `(\w+)` \| `?([\w-]+)`?/.exec(line)?.slice(1, 3) ?? []);
    const listed = Object.fromEntries(rows.flatMap((name, i) => (i % 2 === 0 ? [[name, rows[i + 1]]] : [])));
    const { ttlMs, answerBytes, leaseMs, encrypted, ...others } = completeOptions({});
    expect(listed).toMatchObject(
      Object.fromEntries(Object.entries({ ttlMs, answerBytes, leaseMs, encrypted }).map(([k, v]) => [k, String(v)])),
    );
    expect(Object.keys(listed).sort()).toEqual(
      [...Object.keys(others), "ttlMs", "answerBytes", "leaseMs", "encrypted"].sort(),
    );
  });

  it("repeats an order from a page until a response arrives, and stores it once", async () => {
    const { sendOrder } = await guide.load<{
      sendOrder(baseUrl: string, token: string, item: string): Promise<{ id: string }>;
    }>("browser.ts");
    const native = globalThis.fetch;
    let lost = 2;
    // The first responses never arrive, as when a connection breaks after the server has done its work.
    globalThis.fetch = async (...given) => {
      const response = await native(...given);
      if (lost-- <= 0) return response;
      await response.arrayBuffer();
      throw new TypeError("fetch failed");
    };
    try {
      const { id } = await sendOrder(`${url}/api`, "bob", "anchor");
      globalThis.fetch = native;
      const { json } = await request(url, "GET", "/api/orders?item=anchor", { token: "bob" });
      expect(json.map((order: { id: string }) => order.id)).toEqual([id]);
    } finally {
      globalThis.fetch = native;
    }
  });

  it("keeps an app from starting that names an unknown route", async () => {
    const api = keelson({
      entities: [],
      driver: memoryDriver(),
      plugins: [idempotency({ required: ["order.pay"] })],
      logger: noopLogger,
    });
    await expect(api.ready).rejects.toThrow("no route is called so");
    await api.close();
  });
});
