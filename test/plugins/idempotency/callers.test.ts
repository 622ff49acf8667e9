import { defineRule, entity, memoryDriver, string } from "keelson";
import { idempotency } from "keelson/idempotency";
import { createTestApp } from "keelson/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { request } from "../../support/http.ts";
import { orderApp, sameAnswer } from "./order-app.ts";

let app: Awaited<ReturnType<typeof orderApp>>;
let key: string;

beforeAll(async () => {
  const guestOf: NonNullable<Parameters<typeof orderApp>[0]["keys"]>["guestOf"] = ({ headers }) =>
    /session=(\w+)/.exec(String(headers.cookie ?? ""))?.[1];
  app = await orderApp({ driver: memoryDriver(), keys: { guestOf, required: ["order.pay", "PUT", "open-door"] } });
});
afterAll(() => app.close());
beforeEach(() => {
  key = crypto.randomUUID();
  app.callers.clear();
});

const door = (headers: Readonly<Record<string, string>>) =>
  request(app.url, "POST", "/desk/door", { headers: { "idempotency-key": key, ...headers } });

describe("a key", () => {
  it("belongs to one caller: another caller's same key is another request", async () => {
    const ann = await app.create(key, { item: "rope" });
    const bob = await app.create(key, { item: "sail" }, { token: "bob" });
    expect([ann.status, bob.status]).toEqual([201, 201]);
    expect(bob.json.item).toBe("sail");
    expect(bob.headers.get("idempotency-replayed")).toBeNull();
    expect((await app.create(key, { item: "sail" }, { token: "bob" })).json.id).toBe(bob.json.id);
  });

  it("is stored neither in clear nor with the request", async () => {
    const body = { item: "a very rare item" };
    await app.create(key, body);
    const rows = JSON.stringify((await app.keys()).map(({ answer: _, ...row }) => row));
    expect(rows).not.toContain(key);
    expect(rows).not.toContain(body.item);
  });

  it("of an unknown caller is refused with 400", async () => {
    const { status, json } = await door({});
    expect([status, json.code]).toEqual([400, "BAD_REQUEST"]);
    expect(json.message).toContain("log in");
  });

  it("of guests who can be distinguished belongs to each guest", async () => {
    const one = { cookie: "session=s1" };
    expect((await door(one)).json).toEqual({ open: true });
    expect((await door(one)).headers.get("idempotency-replayed")).toBe("true");
    expect((await door({ cookie: "session=s2" })).headers.get("idempotency-replayed")).toBeNull();
  });

  it("of a guest is not the key of a user of that name", async () => {
    expect((await door({ cookie: "session=ann" })).status).toBe(200);
    expect((await door({ authorization: "Bearer ann" })).headers.get("idempotency-replayed")).toBeNull();
  });

  it.each([
    ["nothing", ""],
    ["a space", "a b"],
    ["two of them", "a, b"],
    ["a quotation mark that is not closed", '"abc'],
    ["more than 255 characters", "k".repeat(256)],
    ["other than ASCII", "schl\u00fcssel"],
  ])("that is %s is refused with 400", async (_, value) => {
    const before = (await app.keys()).length;
    const { status, json } = await app.create(value);
    expect([status, json.code]).toEqual([400, "BAD_REQUEST"]);
    expect(await app.keys()).toHaveLength(before);
  });

  it("that is required and missing is 400, for permitted callers", async () => {
    const { json } = await app.create();
    const pay = `/api/orders/${json.id}/pay`;
    const missing = await app.send("POST", pay);
    expect([missing.status, missing.json.code]).toEqual([400, "IDEMPOTENCY_KEY_REQUIRED"]);
    expect((await app.send("PUT", `/api/orders/${json.id}`, undefined, { body: {} })).json.code).toBe(
      "IDEMPOTENCY_KEY_REQUIRED",
    );
    expect((await app.send("PATCH", `/api/orders/${json.id}`, undefined, { body: {} })).status).toBe(200);
    expect((await app.send("POST", pay, key)).status).toBe(200);
    expect((await request(app.url, "POST", pay)).status).toBe(401);
  });
});

describe("rules", () => {
  it("are checked before the body is read and a key is stored", async () => {
    const before = (await app.keys()).length;
    const headers = { "idempotency-key": key, "content-type": "text/plain" };
    expect((await request(app.url, "POST", "/api/orders", { headers, body: {} })).status).toBe(401);
    expect((await app.send("POST", "/desk/close", key)).status).toBe(403);
    expect(await app.keys()).toHaveLength(before);
  });

  it("are checked before a response is repeated", async () => {
    app.callers.set("ann", { id: "ann", role: "admin" });
    expect((await app.send("POST", "/desk/close", key)).json).toEqual({ closed: true });
    app.callers.clear();
    const { status, json } = await app.send("POST", "/desk/close", key);
    expect([status, json.code]).toEqual([403, "FORBIDDEN"]);
  });

  it("withhold a response from a caller who may no longer see its fields", async () => {
    app.callers.set("ann", { id: "ann", role: "admin" });
    const first = await app.create(key, { item: "rope", note: "for administrators" });
    expect(first.json.note).toBe("for administrators");
    app.callers.clear();
    const { status, json } = await app.create(key, { item: "rope", note: "for administrators" });
    expect(status).toBe(403);
    expect(JSON.stringify(json)).not.toContain("administrators");
    app.callers.set("ann", { id: "ann", role: "admin" });
    expect(sameAnswer(await app.create(key, { item: "rope", note: "for administrators" }))).toEqual(sameAnswer(first));
  });

  it("withhold an included record from a caller who may no longer see its fields", async () => {
    app.callers.set("ann", { id: "ann", role: "admin" });
    const { json } = await app.create(undefined, { item: "rope", note: "hidden" });
    const pay = () => app.send("PATCH", `/api/orders/${json.id}?include=customer`, key, { body: { pieces: 2 } });
    expect((await pay()).json).toMatchObject({ note: "hidden", customer: { name: "ann" } });
    app.callers.clear();
    expect((await pay()).status).toBe(403);
  });
});

describe("the response to a batch", () => {
  const clerk = defineRule("callersClerk", ({ user }) => user?.role === "clerk");
  const parcel = entity("parcel", { code: string.unique() }).rules({
    read: ["authenticated"],
    create: [clerk],
    update: [clerk],
    delete: [clerk],
  });

  it.each([
    ["creates", { method: "POST", path: "/parcels", body: { code: "c" } }],
    ["creates or changes by a key", { method: "PUT", path: "/parcels?_on=code", body: { code: "a" } }],
    ["changes", { method: "PATCH", path: "/parcels/p", body: { code: "b" } }],
    ["deletes", { method: "DELETE", path: "/parcels/p" }],
  ])("is not repeated to a caller who may no longer do what it %s", async (_, item) => {
    const { as, close } = createTestApp({
      entities: [parcel],
      driver: memoryDriver({ parcel: [{ id: "p", code: "a" }] }),
      plugins: [idempotency()],
    });
    const send = async (role: string | undefined) =>
      (await as({ id: "ann", role }).request("POST", "/api/batch", [item], { "idempotency-key": key })).status;
    expect([await send("clerk"), await send("clerk"), await send(undefined)]).toEqual([200, 200, 403]);
    await close();
  });
});
