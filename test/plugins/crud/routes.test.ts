import { type AnyEntity, belongsTo, createPlugin, entity, int, memoryDriver, string } from "keelson";
import { createTestApp, type TestApp } from "keelson/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QueryParser } from "../../../src/gate/index.ts";

const user = entity("user", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });
const orderItem = entity("orderItem", {
  title: string.min(3),
  amount: int.default(1),
  note: string.optional(),
  owner: belongsTo(() => user),
})
  .ownedBy("owner")
  .rules({ create: ["authenticated"], read: ["everyone"], update: ["owner"], delete: ["ownerOrAdmin"] });
const vault = entity("vault", { name: string }).rules({ read: ["authenticated"] });
const hidden = entity("hidden", { name: string })
  .internal()
  .rules({ read: ["everyone"] });

/** No caller may write notes. */
const noNotes = createPlugin({
  id: "test/no-notes",
  hooks: {
    "access:mask": (draft) => {
      draft.mask = { ...draft.mask, writable: new Set([...draft.mask.writable].filter((name) => name !== "note")) };
    },
  },
});

/** A third-party surface that accepts the filters of lists. */
const tally = createPlugin({
  id: "test/tally",
  requires: ["crud"],
  setup({ routes, entities, use }) {
    const counted = entities.get("orderItem") as AnyEntity;
    const parse = use(QueryParser).reads(["filter"], ["unit"]);
    routes.add({
      method: "GET",
      path: "/order-items/tally",
      entity: counted,
      action: "tally",
      async handler({ scope, search }) {
        const { total } = await scope.run({
          kind: "count",
          entity: counted,
          query: () => parse(search, counted, scope),
        });
        return { pieces: total };
      },
    });
  },
});

const ANN = { id: "ann" };
const BOB = { id: "bob" };
const seed = {
  user: [
    { id: "ann", name: "Ann" },
    { id: "bob", name: "Bob" },
  ],
  orderItem: Array.from({ length: 45 }, (_, i) => ({
    id: `item-${String(i + 1).padStart(2, "0")}`,
    title: `Item ${i + 1}`,
    amount: i + 1,
    ownerId: "ann",
  })),
};

let app: TestApp<[typeof user, typeof orderItem, typeof vault, typeof hidden]>;
beforeAll(async () => {
  app = createTestApp({
    entities: [user, orderItem, vault, hidden],
    driver: memoryDriver(seed),
    plugins: [noNotes, tally],
  });
  await app.api.ready;
});
afterAll(() => app.close());

const get = (path: string, who: { id: string } | null = null) => app.as(who).request("GET", `/api${path}`);
/** The targets of a Link header by relation. */
function links(headers: Headers): Record<string, string> {
  const found = [...(headers.get("link") ?? "").matchAll(/<([^>]*)>; rel="([a-z]+)"/g)];
  return Object.fromEntries(found.map(([, target, rel]) => [rel, target]));
}

describe("the routes of an entity", () => {
  it("are under its plural in kebab-case", () => {
    const own = app.api.routes.filter(({ plugin, entity: of }) => plugin === "crud" && of === "orderItem");
    expect(own.map(({ method, path, action }) => `${method} ${path} ${action}`)).toEqual([
      "POST /api/order-items create",
      "PUT /api/order-items upsert",
      "GET /api/order-items list",
      "GET /api/order-items/aggregate aggregate",
      "GET /api/order-items/:id read",
      "PUT /api/order-items/:id update",
      "PATCH /api/order-items/:id update",
      "DELETE /api/order-items/:id delete",
    ]);
  });

  it("do not exist for internal entities", async () => {
    expect((await get("/hiddens")).status).toBe(404);
    expect(app.api.routes.some(({ entity: of }) => of === "hidden")).toBe(false);
  });

  it("handle HEAD, OPTIONS and other methods", async () => {
    const head = await app.as(null).request("HEAD", "/api/order-items");
    expect([head.status, head.headers.get("x-total-count"), head.body]).toEqual([200, "45", ""]);
    const options = await app.as(null).request("OPTIONS", "/api/order-items/x");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"]);
    expect((await app.as(null).request("POST", "/api/order-items/x")).status).toBe(405);
  });
});

describe("the service query", () => {
  it("gives other surfaces the filters of lists", async () => {
    expect((await get("/order-items/tally?amount_gt=40&unit=piece")).body).toEqual({ pieces: 5 });
    expect(await get("/order-items/tally?_page=2")).toMatchObject({ status: 400 });
  });
});

describe("POST", () => {
  it("responds with 201, the record and its Location", async () => {
    const { status, headers, body } = await app.as(ANN).request("POST", "/api/order-items", { title: "New item" });
    expect(status).toBe(201);
    expect(body).toMatchObject({ title: "New item", amount: 1, ownerId: "ann" });
    const location = headers.get("location");
    expect(location).toBe(`/api/order-items/${(body as { id: string }).id}`);
    expect((await app.as(ANN).request("GET", location ?? "")).body).toEqual(body);
    expect((await app.as(ANN).request("DELETE", location ?? "")).status).toBe(200);
  });

  it("names fields it ignored", async () => {
    const { status, headers, body } = await app
      .as(ANN)
      .request("POST", "/api/order-items", { title: "New item", note: "x" });
    expect([status, headers.get("x-ignored-fields")]).toEqual([201, "note"]);
    await app.as(ANN).request("DELETE", `/api/order-items/${(body as { id: string }).id}`);
  });

  it.each([[[]], [null], ["text"], [7]])("refuses %j as a body", async (body) => {
    const answer = await app.as(ANN).request("POST", "/api/order-items", body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: "BAD_REQUEST", message: "The body must be one JSON object" },
    });
  });

  it("reads nothing before it knows that the caller may create", async () => {
    expect((await app.as(null).request("POST", "/api/order-items?nonsense=1", [])).status).toBe(401);
  });

  it("accepts include and select", async () => {
    const { body } = await app
      .as(ANN)
      .request("POST", "/api/order-items?include=owner&select=title", { title: "New item" });
    expect(body).toEqual({
      id: expect.any(String),
      title: "New item",
      owner: expect.objectContaining({ name: "Ann" }),
    });
    await app.as(ANN).request("DELETE", `/api/order-items/${(body as { id: string }).id}`);
  });

  it("creates nothing if the query is invalid", async () => {
    const answer = await app.as(ANN).request("POST", "/api/order-items?include=nobody", { title: "New item" });
    expect(answer).toMatchObject({ status: 400, body: { message: 'There is no relation "nobody" to include.' } });
    expect((await get("/order-items?_limit=1")).headers.get("x-total-count")).toBe("45");
  });
});

describe("GET of a list", () => {
  it("returns an array, the total and the neighbouring pages", async () => {
    const { status, headers, body } = await get("/order-items?_page=2&_limit=20&_sort=-amount&title_like=item");
    expect(status).toBe(200);
    expect((body as { amount: number }[]).map(({ amount }) => amount)).toEqual(
      Array.from({ length: 20 }, (_, i) => 25 - i),
    );
    expect(headers.get("x-total-count")).toBe("45");
    const kept = "/api/order-items?_sort=-amount&title_like=item&";
    expect(links(headers)).toEqual({
      first: `${kept}_page=1&_limit=20`,
      prev: `${kept}_page=1&_limit=20`,
      next: `${kept}_page=3&_limit=20`,
      last: `${kept}_page=3&_limit=20`,
    });
  });

  it("links to windows if the request used one", async () => {
    const { headers } = await get("/order-items?_start=15&_end=25");
    expect(links(headers)).toEqual({
      first: "/api/order-items?_start=5&_end=15",
      prev: "/api/order-items?_start=5&_end=15",
      next: "/api/order-items?_start=25&_end=35",
      last: "/api/order-items?_start=35&_end=45",
    });
  });

  it("has no next on the last page and no prev on the first", async () => {
    expect(Object.keys(links((await get("/order-items?_page=3&_limit=20")).headers))).toEqual([
      "first",
      "prev",
      "last",
    ]);
    expect(Object.keys(links((await get("/order-items?_limit=20")).headers))).toEqual(["first", "next", "last"]);
    expect(links((await get("/order-items")).headers)).toEqual({
      first: "/api/order-items?_page=1&_limit=100",
      last: "/api/order-items?_page=1&_limit=100",
    });
    expect(links((await get("/order-items?title=none")).headers)).toEqual({
      first: "/api/order-items?title=none&_page=1&_limit=100",
      last: "/api/order-items?title=none&_page=1&_limit=100",
    });
  });

  it("can be walked by its next links, page by page and by keyset", async () => {
    for (const start of [
      "/order-items?_limit=10&_sort=-amount",
      "/order-items?_limit=10&_sort=-amount&_total=none",
      "/order-items?_end=10&_sort=-amount",
    ]) {
      const seen: number[] = [];
      for (let next: string | undefined = `/api${start}`; next !== undefined; ) {
        const { headers, body } = await app.as(null).request("GET", next);
        seen.push(...(body as { amount: number }[]).map(({ amount }) => amount));
        next = links(headers).next;
      }
      expect(seen).toEqual(Array.from({ length: 45 }, (_, i) => 45 - i));
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? "" : `&_after=${encodeURIComponent(cursor)}`;
      const { headers, body } = await get(`/order-items?_limit=10&_sort=-amount${after}`);
      seen.push(...(body as { id: string }[]).map(({ id }) => id));
      if (cursor !== null) expect(Object.keys(links(headers)).filter((rel) => rel !== "next")).toEqual(["first"]);
      cursor = headers.get("x-next-cursor");
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(45);
  });

  it("continues by keyset where pages end", async () => {
    const limits = { maxOffset: 20, pageSize: 10 };
    const short = createTestApp({ entities: [user, orderItem], driver: memoryDriver(seed), limits });
    const rels: string[] = [];
    let seen = 0;
    for (let next: string | undefined = "/api/order-items"; next !== undefined; ) {
      const { headers, body } = await short.as(null).request("GET", next);
      seen += (body as unknown[]).length;
      const found: Record<string, string> = links(headers);
      next = found.next;
      rels.push(`${Object.keys(found)} ${/_page|_after/.exec(next ?? "")}`);
    }
    expect([seen, rels]).toEqual([
      45,
      ["first,next _page", "first,prev,next _page", "first,prev,next _after", "first,next _after", "first null"],
    ]);
    await short.close();
  });

  it("leaves the total out with _total=none", async () => {
    const { headers } = await get("/order-items?_limit=20&_total=none");
    expect(headers.has("x-total-count")).toBe(false);
    expect(Object.keys(links(headers))).toEqual(["first", "next"]);
  });

  it("escapes characters that are not allowed in a Link header", async () => {
    const response = await app.api.handle({
      method: "GET",
      url: '/api/order-items?title=<">;{x}\u00e9&_limit=5',
      headers: {},
    });
    expect(response.headers.link).toMatch(
      /^<\/api\/order-items\?title=%3C%22%3E;%7Bx%7D%C3%A9&_page=1&_limit=5>; rel="first"/,
    );
  });

  it("links below the path where the app is mounted", async () => {
    const response = await app.api.handle({
      method: "GET",
      url: "/order-items?_limit=40",
      base: "/mounted",
      headers: {},
    });
    expect(response.headers.link).toContain('</mounted/order-items?_page=2&_limit=40>; rel="next"');
  });

  it("responds with 400 and every problem of the query, but first with 401", async () => {
    expect(await get("/order-items?amount=x&titel=y")).toMatchObject({
      status: 400,
      body: {
        code: "BAD_REQUEST",
        message:
          '"amount" must be a whole number between -2147483648 and 2147483647. Unknown parameter "titel". Did you mean "title"?',
      },
    });
    expect((await get("/vaults?nonsense=1")).status).toBe(401);
  });
});

describe("GET, PUT, PATCH and DELETE of one record", () => {
  it("read and merge", async () => {
    const before = (await get("/order-items/item-01")).body;
    const { status, body } = await app.as(ANN).request("PUT", "/api/order-items/item-01", { amount: 99 });
    expect([status, body]).toEqual([200, { ...(before as object), amount: 99, updatedAt: expect.any(String) }]);
    const patched = await app.as(ANN).request("PATCH", "/api/order-items/item-01", { ...(body as object), amount: 1 });
    expect(patched).toMatchObject({ status: 200, body: { amount: 1, title: "Item 1" } });
  });

  it("name the fields they ignored", async () => {
    const { headers } = await app.as(ANN).request("PATCH", "/api/order-items/item-01", { note: "x" });
    expect(headers.get("x-ignored-fields")).toBe("note");
  });

  it("delete, return success and id, and ignore a body", async () => {
    const created = (await app.as(ANN).request("POST", "/api/order-items", { title: "Short-lived" })).body as {
      id: string;
    };
    const path = `/api/order-items/${created.id}`;
    const answer = await app.as(ANN).request("DELETE", path, "not an object", { "content-type": "text/plain" });
    expect(answer).toMatchObject({ status: 200, body: { success: true, id: created.id } });
    expect((await app.as(ANN).request("DELETE", path)).status).toBe(404);
  });

  it("accept include and select, and no other parameters", async () => {
    expect((await get("/order-items/item-02?include=owner&select=title")).body).toEqual({
      id: "item-02",
      title: "Item 2",
      owner: expect.objectContaining({ id: "ann", name: "Ann" }),
    });
    expect(await get("/order-items/item-02?title=x")).toMatchObject({
      status: 400,
      body: { message: 'Unknown parameter "title".' },
    });
    expect((await app.as(ANN).request("DELETE", "/api/order-items/item-02?force=1")).status).toBe(400);
    expect((await get("/order-items/item-02?_=1699999999")).status).toBe(200);
  });

  it("are refused without the right, before anything else is checked", async () => {
    expect((await app.as(BOB).request("PATCH", "/api/order-items/item-02", { amount: 1 })).status).toBe(403);
    expect((await app.as(null).request("DELETE", "/api/order-items/item-02?force=1")).status).toBe(401);
  });

  it("treat an overlong id like a missing record", async () => {
    const path = `/order-items/${"x".repeat(129)}`;
    expect((await get(path)).status).toBe(404);
    expect((await app.as(ANN).request("PUT", `/api${path}`, {})).status).toBe(404);
    expect((await app.as(ANN).request("DELETE", `/api${path}`)).status).toBe(404);
    expect((await get(`/vaults/${"x".repeat(129)}`)).status).toBe(401);
  });
});
