import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, KeelsonClientError } from "keelson/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openShop, type Shop } from "./shop.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** The error of a rejected call. */
async function rejection(call: Promise<unknown>): Promise<KeelsonClientError> {
  const error = await call.then(
    () => expect.fail("the call succeeded"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KeelsonClientError);
  return error as KeelsonClientError;
}

/** A client of a server with one response to everything. */
async function clientOf(status: number, type: string, body: string) {
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return createClient<Shop>({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

describe("an error of the API", () => {
  it("has code, status, messages by field, issues and the request's id", async () => {
    const error = await rejection(shop.clientOf("ann").orderItem.create({ title: "x", ownerId: "ann" }));
    expect(error).toMatchObject({
      name: "KeelsonClientError",
      code: "VALIDATION_FAILED",
      status: 400,
      message: "Validation failed",
      errors: { title: "must be at least 2 characters" },
      issues: [{ path: ["title"], code: "too_small" }],
      details: {},
    });
    expect(error.requestId).toBe(error.headers.get("x-request-id"));
    expect(error.requestId).toBeTruthy();
  });

  it("distinguishes 401 and 403", async () => {
    const created = { title: "Nut", ownerId: "ann" };
    expect((await rejection(shop.clientOf().orderItem.create(created))).code).toBe("UNAUTHENTICATED");
    expect((await rejection(shop.clientOf("ann").orderItem.delete("item-00"))).code).toBe("FORBIDDEN");
  });

  it("of a condition on an unreadable field equals that of an unknown one", async () => {
    const where = { token: "ann-token" } as never;
    const error = await rejection(shop.clientOf("ann").person.list({ where }));
    expect(error).toMatchObject({ code: "BAD_REQUEST", status: 400 });
  });

  it("names the assumed path if it may be wrong", async () => {
    const client = createClient<Shop>({ baseUrl: shop.baseUrl });
    const hint = "GET /persons was assumed; give the client routes";
    expect((await rejection(client.person.list())).message).toContain(hint);
    expect((await rejection(client.person.count())).message).toContain(hint);
    expect((await rejection(client.orderItem.get("nope"))).message).toBe("Not found");
    const told = createClient<Shop>({ baseUrl: shop.baseUrl, routes: { person: { path: "people" } } });
    expect((await told.person.list()).total).toBe(2);
  });
});

describe("a response that did not come from the API", () => {
  it("is distinguished from one that did", async () => {
    const page = "<h1>Shop</h1>";
    for (const [status, type, body] of [
      [200, "text/html", page],
      [502, "text/html", page],
      [200, "application/json", '[{"id":'],
      [404, "application/json", '{"error":"no"}'],
      [500, "application/json", "null"],
      [200, "application/json", ""],
    ] as const) {
      const client = await clientOf(status, type, body);
      for (const call of [client.person.list(), client.person.get("ann"), client.person.delete("ann")]) {
        const error = await rejection(call);
        expect(error).toMatchObject({ code: "UNEXPECTED_ANSWER", status });
        expect(error.message).toMatch(/^(GET|DELETE) \/persons/);
        expect(error.message).not.toContain("Shop");
      }
    }
  });

  it("is a list without pagination headers", async () => {
    /** The part of a response that browsers show for another host. */
    const without = (...hidden: readonly string[]) =>
      createClient<Shop>({
        baseUrl: shop.baseUrl,
        async fetch(url, init) {
          const response = await fetch(url, init);
          const headers = new Headers(response.headers);
          for (const name of hidden) headers.delete(name);
          return new Response(response.body, { status: response.status, headers });
        },
      });
    const total = without("x-total-count");
    expect((await rejection(total.orderItem.list())).message).toContain("X-Total-Count");
    expect((await rejection(total.orderItem.count())).message).toContain("Access-Control-Expose-Headers");
    const cursor = without("x-next-cursor");
    expect((await rejection(cursor.orderItem.list({ limit: 10 }))).message).toContain("X-Next-Cursor");
    expect((await rejection(cursor.orderItem.all({ limit: 25 }).next())).message).toContain("X-Next-Cursor");
    expect(await cursor.orderItem.count()).toBe(25);
  });
});

describe("an invalid call", () => {
  it("makes no request", async () => {
    let requests = 0;
    const client = createClient<Shop>({
      baseUrl: shop.baseUrl,
      async fetch(url, init) {
        requests += 1;
        return fetch(url, init);
      },
    });
    for (const id of ["", ".", "..", undefined as never])
      for (const call of [client.person.get(id), client.person.update(id, {}), client.person.delete(id)])
        expect(await rejection(call)).toMatchObject({ code: "BAD_REQUEST", status: 400 });
    expect((await rejection(client.$runs.get(".."))).code).toBe("BAD_REQUEST");
    const notNumber = { title: "Nut", ownerId: "ann", price: Number.NaN };
    expect((await rejection(client.orderItem.create(notNumber))).message).toBe('"price" must be a finite number');
    const notMoment = new Date("no date");
    const noDate = { title: "Nut", ownerId: "ann", dueAt: notMoment };
    expect((await rejection(client.orderItem.create(noDate))).message).toBe('"dueAt" must be a valid date');
    expect((await rejection(client.orderItem.echo([notMoment]))).message).toBe('"0" must be a valid date');
    const told = createClient<Shop>({ baseUrl: "http://127.0.0.1:1", routes: shop.routes });
    expect((await rejection(told.orderItem.greet({ at: notMoment }))).code).toBe("BAD_REQUEST");
    await expect(client.orderItem.list({ where: { count: undefined } as never })).rejects.toThrow(TypeError);
    expect(requests).toBe(0);
  });
});

describe("a failing network", () => {
  it("rejects as fetch does", async () => {
    const client = createClient<Shop>({ baseUrl: "http://127.0.0.1:1" });
    await expect(client.person.list()).rejects.toThrow(TypeError);
  });

  it("is not awaited once the call is aborted", async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const client = createClient<Shop>({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    const controller = new AbortController();
    const { signal } = controller;
    const calls = [
      client.person.list({}, { signal }),
      client.person.create({ name: "a", email: "a@b.example" }, { signal }),
      client.orderItem.echo({}, { signal }),
      client.orderItem.toggle("a", undefined, { signal }),
      client.person.all({}, { signal }).next(),
    ].map((call) => expect(call).rejects.toMatchObject({ name: "AbortError" }));
    controller.abort();
    await Promise.all(calls);
  });
});
