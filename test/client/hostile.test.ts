import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, serializeListQuery } from "keelson/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openShop, type Shop } from "./shop.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** A client of a server with configurable responses, and the received requests. */
async function against(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: createClient<Shop>({ baseUrl, routes: shop.routes }), seen };
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

const unexpected = expect.objectContaining({ name: "KeelsonClientError", code: "UNEXPECTED_ANSWER" });

describe("a write that is redirected", () => {
  it.each([301, 302, 303, 307, 308])("with %s is not a success, for any final response", async (status) => {
    const { client, seen } = await against((request, response) => {
      if (request.url?.startsWith("/moved") === true) json(response, 200, { id: "i1", title: "old" });
      else response.writeHead(status, { location: `/moved${request.url}` }).end();
    });
    const calls = [
      () => client.orderItem.create({ title: "Nut", ownerId: "ann" }),
      () => client.orderItem.update("i1", { title: "Nut" }),
      () => client.orderItem.delete("i1"),
    ];
    for (const call of calls) await expect(call()).rejects.toEqual(unexpected);
    await expect(client.orderItem.get("i1")).resolves.toMatchObject({ title: "old" });
    expect(seen).toHaveLength(8);
  });
});

describe("responses of another server", () => {
  it.each([{}, { data: [] }, "text", 5, null, true])("are not a list: %j", async (body) => {
    const { client } = await against((_, response) => json(response, 200, body, { "x-total-count": "1" }));
    await expect(client.orderItem.list()).rejects.toEqual(unexpected);
    await expect(client.orderItem.all().next()).rejects.toEqual(unexpected);
  });

  it.each([{ code: "X" }, { code: 5, message: "no" }, { code: "X", message: { text: "no" } }, ["X"], "X"])(
    "are not errors of the API: %j",
    async (body) => {
      const { client } = await against((_, response) => json(response, 403, body));
      await expect(client.orderItem.get("i1")).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER", status: 403 });
    },
  );

  it("may contain names of prototypes, which change nothing", async () => {
    const { client } = await against((_, response) =>
      response
        .writeHead(400, { "content-type": "application/json" })
        .end('{"code":"X","message":"no","__proto__":{"status":200,"polluted":1},"constructor":1}'),
    );
    const error = await client.orderItem.get("i1").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "X", status: 400 });
    expect(error).not.toHaveProperty("polluted");
    expect({}).not.toHaveProperty("polluted");
  });

  it("to a started workflow may be without a body, or with any", async () => {
    for (const body of ["", "null", "5", '"text"', "[]", '{"runId":5}']) {
      const { client } = await against((_, response) =>
        response.writeHead(202, { "content-type": "application/json" }).end(body),
      );
      const result = body === "" ? undefined : JSON.parse(body);
      expect(await client.orderItem.place.start({ title: "Nut" })).toEqual({ status: "ended", result });
    }
  });
});

describe("a call that is aborted", () => {
  it("ends while the response's body is still arriving", async () => {
    const controller = new AbortController();
    const { client } = await against((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "x-total-count": "2" }).write('[{"id":"i1"},');
      setImmediate(() => controller.abort());
    });
    const { signal } = controller;
    await expect(client.orderItem.list({}, { signal })).rejects.toMatchObject({ name: "AbortError" });
  });

  it("does not wait for a token that never arrives", async () => {
    const controller = new AbortController();
    const client = createClient<Shop>({ baseUrl: shop.baseUrl, getToken: () => new Promise<string>(() => {}) });
    const call = client.orderItem.get("item-00", {}, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });

  it("rejects with its signal's reason, and sends nothing if already aborted", async () => {
    const { client, seen } = await against((_, response) => json(response, 200, []));
    const reason = new Error("no more");
    await expect(client.orderItem.get("i1", {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(seen).toEqual([]);
  });
});

describe("an iteration over all records", () => {
  it("requests no more pages when it is left early", async () => {
    let requests = 0;
    const client = createClient<Shop>({
      baseUrl: shop.baseUrl,
      routes: shop.routes,
      async fetch(url, init) {
        requests += 1;
        return fetch(url, init);
      },
    });
    for await (const { id } of client.orderItem.all({ limit: 5, sort: ["id"] })) if (id === "item-06") break;
    expect(requests).toBe(2);
    for await (const page of client.orderItem.pages({ limit: 5 })) if (page.length > 0) break;
    expect(requests).toBe(3);
  });
});

describe("a token", () => {
  it("is read before each request, also for each page, and a 401 is not retried", async () => {
    const tokens = ["ann", "bob", "root"];
    const sent: (string | null)[] = [];
    const client = createClient<Shop>({
      baseUrl: shop.baseUrl,
      routes: shop.routes,
      getToken: async () => tokens.shift(),
      async fetch(url, init) {
        sent.push(new Headers(init.headers).get("authorization"));
        return fetch(url, init);
      },
    });
    const seen: string[] = [];
    for await (const { id } of client.orderItem.all({ limit: 10 })) seen.push(id);
    expect(seen).toHaveLength(25);
    const created = client.orderItem.create({ title: "Nut", ownerId: "ann" });
    await expect(created).rejects.toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
    expect(sent).toEqual(["Bearer ann", "Bearer bob", "Bearer root", null]);
  });

  it("that cannot be read rejects the call with its error", async () => {
    const failure = new Error("no session");
    const client = createClient<Shop>({
      baseUrl: shop.baseUrl,
      getToken: () => Promise.reject(failure),
    });
    await expect(client.orderItem.list()).rejects.toBe(failure);
  });
});

describe("texts of all kinds", () => {
  it("are sent unchanged as ids", async () => {
    const ids = ["%", "%2F", "%00x", "a?b=c&d#e", "a;b", "ä ö", "🙂", "+", "constructor", "..x"];
    const system = shop.api.asSystem().orderItem;
    for (const id of ids) {
      await system.create({ id, title: "Odd", ownerId: "ann" });
      expect([id, (await shop.clientOf("ann").orderItem.get(id)).id]).toEqual([id, id]);
      expect([id, (await shop.clientOf("ann").orderItem.list({ where: { id } })).total]).toEqual([id, 1]);
      expect([id, await shop.clientOf("ann").orderItem.exists(id)]).toEqual([id, { exists: true }]);
      await system.delete(id);
    }
  });

  it("with slashes are refused as ids, and never become another path", async () => {
    for (const id of ["a/b", "item-00/../item-01", "/", "a\\b", "item-00/exists"])
      await expect(shop.clientOf("ann").orderItem.get(id)).rejects.toMatchObject({ code: "BAD_REQUEST", status: 400 });
  });

  it("with a lone surrogate are refused before they are sent", async () => {
    const { client, seen } = await against((_, response) => json(response, 200, []));
    await expect(client.orderItem.get("a\ud800")).rejects.toMatchObject({ code: "BAD_REQUEST", status: 400 });
    await expect(client.orderItem.list({ where: { title: "\udc00" } })).rejects.toThrow(TypeError);
    await expect(client.orderItem.list({ q: "\ud800" })).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  });

  it("never drop a condition of a query", () => {
    const wheres: readonly unknown[] = [
      { a: undefined },
      { a: { eq: undefined } },
      { a: { in: undefined } },
      { a: [undefined] },
      { or: [{ a: undefined }] },
      { a: { b: { c: { d: Number.NaN } } } },
      { a: Number.NaN },
      { a: new Date("no") },
      { a: () => 1 },
      { a: Symbol("s") },
      { a: { gt: null } },
    ];
    for (const where of wheres) expect(() => serializeListQuery({ where } as never)).toThrow(TypeError);
    const odd = JSON.parse('{"__proto__":1,"constructor":2,"toString":3}');
    expect(serializeListQuery({ where: odd })).toBe("__proto__=1&constructor=2&toString=3");
  });
});

describe("frameworks that inspect a client", () => {
  it("find no special properties on it, and send nothing", async () => {
    const { client, seen } = await against((_, response) => json(response, 200, []));
    for (const one of [client, client.orderItem] as readonly object[])
      for (const mark of ["then", "toJSON", "__v_isRef", "__v_raw", "__esModule", "$$typeof", "@@iterator"])
        expect([mark, Reflect.get(one, mark)]).toEqual([mark, undefined]);
    expect(seen).toEqual([]);
  });
});
