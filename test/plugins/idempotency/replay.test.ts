import { entity, json, memoryDriver, noopLogger } from "keelson";
import { idempotency } from "keelson/idempotency";
import { createTestApp } from "keelson/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { orderApp, sameAnswer } from "./order-app.ts";

let app: Awaited<ReturnType<typeof orderApp>>;
let key: string;
let failures = 0;
const tokens: (string | undefined)[] = [];

beforeAll(async () => {
  app = await orderApp({
    driver: memoryDriver(),
    keys: { answerBytes: 2_000, withoutTransaction: ["order.apart", "order.wide"] },
    work(token) {
      tokens.push(token);
      if (failures > 0) {
        failures -= 1;
        throw new TypeError("of a handler");
      }
    },
  });
});
afterAll(() => app.close());
beforeEach(() => {
  key = crypto.randomUUID();
  failures = 0;
  tokens.length = 0;
  app.callers.clear();
});

const count = async () => (await app.orders()).length;

describe("a repeated request", () => {
  it("does not run again, and gets the first response: status, headers and body", async () => {
    const before = await count();
    const first = await app.create(key);
    const second = await app.create(key);
    expect(first.status).toBe(201);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(sameAnswer(second)).toEqual(sameAnswer(first));
    expect(second.headers.get("location")).toBe(`/api/orders/${first.json.id}`);
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(await count()).toBe(before + 1);
  });

  it.each(["PUT", "PATCH"])("gets the stored response for %s, even if the record has changed", async (method) => {
    const { json } = await app.create();
    const path = `/api/orders/${json.id}`;
    const init = { body: { item: "sail" }, headers: { "if-match": '"1"' } };
    const first = await app.send(method, path, key, init);
    await app.send("PATCH", path, undefined, { body: { item: "mast" } });
    expect(sameAnswer(await app.send(method, path, key, init))).toEqual(sameAnswer(first));
    expect((await app.send("GET", path)).json.item).toBe("mast");
  });

  it("gets the stored response for a record that it deleted", async () => {
    const { json } = await app.create();
    const path = `/api/orders/${json.id}`;
    const first = await app.send("DELETE", path, key);
    expect(first.status).toBe(200);
    expect(sameAnswer(await app.send("DELETE", path, key))).toEqual(sameAnswer(first));
    expect((await app.send("DELETE", path)).status).toBe(404);
  });

  it("gets the stored response for actions, bulk actions and plugin endpoints", async () => {
    const { json } = await app.create();
    for (const [path, body] of [
      [`/api/orders/${json.id}/pay`, undefined],
      ["/api/orders/bulk-update", { ids: [json.id], data: { pieces: 3 } }],
      ["/desk/notes", undefined],
    ] as const) {
      const before = await count();
      const first = await app.send("POST", path, key, { body });
      expect(first.status).toBeLessThan(300);
      const second = await app.send("POST", path, key, { body });
      expect(sameAnswer(second)).toEqual(sameAnswer(first));
      expect(await count()).toBe(before + (path === "/desk/notes" ? 1 : 0));
      key = crypto.randomUUID();
    }
    expect(tokens).toHaveLength(1);
  });

  it("gets the same bytes", async () => {
    const bytes = async () => {
      const headers = { authorization: "Bearer ann", "idempotency-key": key };
      const response = await fetch(`${app.url}/api/orders/bytes`, { method: "POST", headers });
      return [response.headers.get("content-type"), [...new Uint8Array(await response.arrayBuffer())]];
    };
    expect(await bytes()).toEqual(["application/octet-stream", [0, 255, 128]]);
    expect(await bytes()).toEqual(["application/octet-stream", [0, 255, 128]]);
  });

  it("may have its members in another order, and its key in quotation marks", async () => {
    const first = await app.create(key, { item: "rope", pieces: 2 });
    const second = await app.create(`"${key}"`, { pieces: 2, item: "rope" });
    expect(sameAnswer(second)).toEqual(sameAnswer(first));
  });

  it("is another request if an empty list replaces an empty object", async () => {
    const note = entity("note", { meta: json.optional() }).rules({ read: ["everyone"], create: ["everyone"] });
    const notes = createTestApp({ entities: [note], plugins: [idempotency()], logger: noopLogger });
    const send = async (meta: object): Promise<number> =>
      (await notes.as({ id: "u" }).request("POST", "/api/notes", { meta }, { "idempotency-key": "k" })).status;
    expect(await send({})).toBe(201);
    expect(await send([])).toBe(422);
    expect(await send([[]])).toBe(422);
    expect(await send({})).toBe(201);
    await notes.close();
  });

  it("runs again when the key has expired", async () => {
    let now = new Date();
    const own = await orderApp({ driver: memoryDriver(), keys: { ttlMs: 3_600_000 }, clock: { now: () => now } });
    const first = await own.create(key);
    now = new Date(now.getTime() + 3_500_000);
    expect((await own.create(key)).json.id).toBe(first.json.id);
    now = new Date(now.getTime() + 200_000);
    const later = await own.create(key, { item: "another" });
    expect(later.status).toBe(201);
    expect(later.json.id).not.toBe(first.json.id);
    await own.close();
  });

  it("does not log in again: only the first response has cookies", async () => {
    const first = await app.send("POST", "/api/orders/cookie", key);
    expect(first.headers.get("set-cookie")).toContain("secret");
    const second = await app.send("POST", "/api/orders/cookie", key);
    expect([second.headers.get("set-cookie"), second.headers.get("x-other")]).toEqual([null, "kept"]);
    expect(JSON.stringify(await app.keys())).not.toContain("session=");
  });
});

describe("another request with the same key", () => {
  it.each([
    ["another body", "POST", "/api/orders", { item: "sail" }, {}],
    ["another query", "POST", "/api/orders?include=customer", { item: "rope" }, {}],
    ["another route", "POST", "/desk/notes", undefined, {}],
    ["another condition", "POST", "/api/orders", { item: "rope" }, { "if-match": '"1"' }],
  ])("is refused with 422: %s", async (_, method, path, body, headers) => {
    await app.create(key);
    const before = await count();
    const { status, json } = await app.send(method, path, key, { body, headers });
    expect([status, json.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    expect(await count()).toBe(before);
  });

  it("is refused with 422 for another record and another method", async () => {
    const [one, two] = [(await app.create()).json.id, (await app.create()).json.id];
    await app.send("PATCH", `/api/orders/${one}`, key, { body: { item: "sail" } });
    expect((await app.send("PATCH", `/api/orders/${two}`, key, { body: { item: "sail" } })).status).toBe(422);
    expect((await app.send("PUT", `/api/orders/${one}`, key, { body: { item: "sail" } })).status).toBe(422);
  });
});

describe("a request that fails", () => {
  it("leaves no key when it is refused, so that it can be corrected and repeated", async () => {
    const refused = await app.create(key, { item: "r" });
    expect(refused.status).toBe(400);
    expect((await app.create(key, { item: "r" })).status).toBe(400);
    expect((await app.create(key)).status).toBe(201);
  });

  it("is rolled back, and may be repeated with the same token", async () => {
    const { json } = await app.create();
    failures = 1;
    const pay = () => app.send("POST", `/api/orders/${json.id}/pay`, key);
    expect((await pay()).status).toBe(500);
    expect((await app.send("GET", `/api/orders/${json.id}`)).json.item).toBe("rope");
    const { status, json: paid } = await pay();
    expect([status, paid.token]).toEqual([200, tokens[0]]);
    expect(tokens).toEqual([tokens[0], tokens[0]]);
    expect((await app.send("GET", `/api/orders/${json.id}`)).json.item).toBe("paid");
  });

  it("still differs from a request with another body, after a failure", async () => {
    failures = 1;
    expect((await app.send("POST", "/api/orders/apart", key)).status).toBe(500);
    expect((await app.create(key)).status).toBe(422);
  });

  it("keeps an error response that a handler returns, together with its writes", async () => {
    const before = await count();
    const first = await app.send("POST", "/api/orders/refuse", key);
    expect(first.status).toBe(409);
    expect(sameAnswer(await app.send("POST", "/api/orders/refuse", key))).toEqual(sameAnswer(first));
    expect(await count()).toBe(before + 1);
  });
});

describe("a failed request that is repeated many times at once", () => {
  it("runs once", async () => {
    const { json } = await app.create();
    failures = 1;
    const pay = () => app.send("POST", `/api/orders/${json.id}/pay`, key);
    expect((await pay()).status).toBe(500);
    tokens.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, pay));
    expect(tokens).toHaveLength(1);
    const carriedOut = answers.filter(({ status, headers }) => status === 200 && !headers.has("idempotency-replayed"));
    expect(carriedOut).toHaveLength(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
  });
});

describe("a response that cannot be stored", () => {
  it.each([
    ["large", "is larger than 2000 bytes"],
    ["stream", "is streamed"],
  ])("is refused, and nothing is changed: %s", async (name, why) => {
    const [before, keys] = [await count(), (await app.keys()).length];
    const { status, json } = await app.send("POST", `/api/orders/${name}`, key);
    expect([status, json.code]).toEqual([400, "BAD_REQUEST"]);
    expect(json.message).toContain(why);
    expect(await count()).toBe(before);
    expect(await app.keys()).toHaveLength(keys);
    const without = await fetch(`${app.url}/api/orders/${name}`, {
      method: "POST",
      headers: { authorization: "Bearer ann" },
    });
    expect(without.status).toBe(200);
    await without.text();
  });

  it("is refused before the work if the handler reads the body as a stream", async () => {
    const before = await count();
    const { status, json } = await app.send("POST", "/api/orders/import", key, { body: [{ item: "rope" }] });
    expect(status).toBe(400);
    expect(json.message).toContain("its body is not kept");
    expect(await count()).toBe(before);
    expect((await app.send("POST", "/api/orders/import", undefined, { body: [{ item: "rope" }] })).status).toBe(200);
  });
});

describe("work that is not in a transaction with its key", () => {
  it("has its response repeated, and is retried with the same token after a failure", async () => {
    failures = 1;
    const send = () => app.send("POST", "/api/orders/apart", key);
    expect((await send()).status).toBe(500);
    const first = await send();
    expect(first.json).toEqual({ apart: false });
    expect(sameAnswer(await send())).toEqual(sameAnswer(first));
    expect(tokens).toEqual([tokens[0], tokens[0]]);
  });
});

describe("a response that cannot be stored, of work outside a transaction", () => {
  it("is sent once, and a repetition gets an error that the work is done", async () => {
    const before = await count();
    expect((await app.send("POST", "/api/orders/wide", key)).status).toBe(200);
    const { status, json } = await app.send("POST", "/api/orders/wide", key);
    expect([status, json.code]).toEqual([409, "CONFLICT"]);
    expect(json.message).toContain("was carried out before");
    expect(await count()).toBe(before + 1);
  });
});

describe("requests that change nothing", () => {
  it("ignore keys", async () => {
    await app.create();
    const before = (await app.keys()).length;
    expect((await app.send("GET", "/api/orders", key)).status).toBe(200);
    await app.create();
    expect((await app.send("GET", "/api/orders", key)).headers.get("idempotency-replayed")).toBeNull();
    expect(await app.keys()).toHaveLength(before);
  });
});
