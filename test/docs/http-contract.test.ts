import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  archiveAction,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  datetime,
  email,
  entity,
  existsAction,
  exportAction,
  importAction,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
  unarchiveAction,
} from "keelson";
import { idempotency } from "keelson/idempotency";
import { rateLimit } from "keelson/rate-limit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SUFFIXES } from "../../src/entity/index.ts";
import { type JsonResponse, type RequestInit, type RunningApp, request, startApp } from "../support/http.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { tableBelow } from "./concepts/table-below.ts";

const pageOf = (name: string): string => readFileSync(join(repositoryRoot, `docs/reference/${name}.md`), "utf8");
const page = pageOf("http");

const author = entity("author", { name: string, email: email.optional().readable("owner") })
  .ownedBy("id")
  .rules({ read: ["everyone"] });

const post = entity("post", {
  title: string.min(3),
  views: int.default(0),
  published: bool.default(false),
  archived: bool.default(false),
  rank: int.optional().writable("admin"),
  deletedAt: datetime.optional().readonly(),
  author: belongsTo(() => author),
})
  .ownedBy("author")
  .versioned()
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({
    softDelete: softDeleteAction,
    restore: restoreAction,
    archive: archiveAction,
    unarchive: unarchiveAction,
    publish: toggleAction("published"),
    clone: cloneAction,
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
    count: countAction,
    exists: existsAction,
    export: exportAction,
    import: importAction,
  });

const driver = memoryDriver();
const api = keelson({
  entities: [author, post],
  driver,
  logger: noopLogger,
  plugins: [idempotency(), rateLimit()],
  getUser: ({ headers }) => {
    const id = headers.get("authorization")?.slice("Bearer ".length);
    return id ? { id } : null;
  },
});

let app: RunningApp;
beforeAll(async () => {
  app = await startApp(api);
  for (const id of ["ann", "bob"]) await api.asSystem().author.create({ id, name: id });
});
afterAll(() => app.close());
async function seed(): Promise<void> {
  await driver.deleteMany("post", { id: { null: false } });
  for (const id of ["p1", "p2", "p3"])
    await api.asSystem().post.create({ id, title: `Post ${id}`, authorId: id === "p3" ? "bob" : "ann" });
}
beforeEach(seed);

const send = (method: string, path: string, init: RequestInit = {}): Promise<JsonResponse> =>
  request(app.url, method, `/api${path}`, { token: "ann", ...init });
const list = (query: string): Promise<JsonResponse> => send("GET", `/posts?${query}`);

/** Requests of a cell such as `` `PUT /api/posts/bulk` or `POST /api/posts/bulk-update` ``. */
const requestsIn = (cell: string): (readonly [string, string])[] =>
  [...cell.matchAll(/`([A-Z]+) \/api(\/[^`]*)`/g)].map(([, method = "", path = ""]) => [method, path]);

const BODIES: Readonly<Record<string, unknown>> = {
  "POST /posts": { title: "New" },
  "PUT /posts/:id": { views: 1 },
  "PATCH /posts/:id": { views: 1 },
  "PUT /posts/bulk": { ids: ["p1", "p2", "p3"], data: { views: 1 } },
  "POST /posts/bulk-update": { ids: ["p1", "p2", "p3"], data: { views: 1 } },
  "DELETE /posts/bulk": { ids: ["p1", "p2", "p3"] },
  "POST /posts/bulk-delete": { ids: ["p1", "p2", "p3"] },
  "POST /posts/import": [{ title: "One" }, { title: "Two" }],
};

/** Sends the requests of a row and compares status, `Location` and the body if the row shows one. */
async function expectRow(cell: string, success: string, body: string): Promise<void> {
  for (const [method, path] of requestsIn(cell)) {
    await seed();
    const { status, headers, json } = await send(method, path.replace(":id", "p1"), {
      body: BODIES[`${method} ${path}`],
    });
    expect(status, `${method} ${path}`).toBe(Number.parseInt(success, 10));
    for (const [, name = ""] of success.matchAll(/`([\w-]+)`/g)) expect(headers.get(name), name).not.toBeNull();
    const shown = /^`(\{.*\})`$/.exec(body)?.[1];
    if (shown === undefined) continue;
    const example: object = JSON.parse(shown.replace('"…"', '"p1"'));
    expect(Object.keys(json)).toEqual(Object.keys(example));
    // The page counts other records than this test has.
    if (path !== "/posts/count") expect(json).toEqual(example);
  }
}

describe("docs/reference/http.md: routes", () => {
  it.each(tableBelow(page, "Routes of an entity"))("%s responds with %s", async (cell, success, body) => {
    await expectRow(cell as string, success as string, body as string);
  });

  it.each(tableBelow(page, "Prebuilt actions"))("%s is %s", async (_, cell, success, body) => {
    await expectRow(cell as string, success as string, body as string);
  });

  it("responds to HEAD, OPTIONS, other methods and unknown paths as the page says", async () => {
    const head = await send("HEAD", "/posts");
    expect([head.status, head.headers.get("x-total-count"), head.json]).toEqual([200, "3", undefined]);
    const options = await send("OPTIONS", "/posts/p1");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"]);
    const patch = await send("PATCH", "/posts");
    expect([patch.status, patch.json.code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(patch.headers.get("allow")).toBe("GET, POST, PUT, HEAD, OPTIONS");
    expect((await send("GET", "/nothing")).json.code).toBe("NOT_FOUND");
    expect((await send("GET", "/post")).json.message).toBe("Not found. Did you mean /api/posts?");
    expect([(await send("GET", "/posts/")).status, (await send("GET", "//posts")).status]).toEqual([200, 400]);
  });
});

describe("docs/reference/http.md: list queries", () => {
  it("shows every operator, and parameters that are accepted", async () => {
    const cells = tableBelow(page, "Filters").map(([cell]) => cell as string);
    const suffixes = [...cells.join().matchAll(/`(?:views|title)_(\w+)=/g)].map(([, operator]) => operator);
    const ofArrays = [...page.matchAll(/(?<=^- Arrays have .*`_)\w+/gm)].map(([operator]) => operator);
    expect([...suffixes, ...ofArrays].sort()).toEqual([...SUFFIXES].sort());
    for (const [, query = ""] of cells.join().matchAll(/`([^`]+=[^`]*)`/g))
      expect((await list(query)).status, query).toBe(200);
    const example = /^GET \/api\/posts\?(.*)$/m.exec(page)?.[1] ?? "";
    expect((await list(example)).status).toBe(200);
  });

  it.each([
    "titel=x",
    "views=ten",
    "views_gte=1&views_gte=2",
    "author.email=x&email=x",
    "_sort=nothing",
    "_limit=1001",
    "_page=1&_start=0",
    "_page=1002&_limit=100",
    "_after=nonsense",
    "select=nothing",
    "include=nothing",
  ])("refuses %s with 400", async (query) => {
    expect((await list(query)).json).toMatchObject({ code: "BAD_REQUEST", status: 400 });
  });

  it("pages by number, window and cursor", async () => {
    const first = await list("_page=1&_limit=2");
    expect(first.headers.get("x-total-count")).toBe("3");
    expect(first.headers.get("link")).toContain('</api/posts?_page=2&_limit=2>; rel="next"');
    expect((await list("_start=0&_end=2")).headers.get("link")).toContain('_start=2&_end=4>; rel="next"');
    const cursor = first.headers.get("x-next-cursor") as string;
    const next = await list(`_after=${cursor}&_limit=2&_total=none`);
    expect(next.json.map(({ id }: { id: string }) => id)).toEqual(["p3"]);
    expect([next.headers.get("x-total-count"), next.headers.get("x-next-cursor")]).toEqual([null, null]);
    expect((await list(`_after=${cursor}&_sort=-views`)).status).toBe(400);
  });

  it("gives an unreadable field the response of an unknown name", async () => {
    const [hidden, unknown] = [await request(app.url, "GET", "/api/authors?email=x"), await list("nothing=x")];
    const said = ({ json }: JsonResponse, name: string) => [json.code, json.message.replace(name, "…")];
    expect(said(hidden, "email")).toEqual(said(unknown, "nothing"));
  });
});

describe("docs/reference/http.md: bodies", () => {
  it("ignores, names and refuses members as the page says", async () => {
    const body = { title: "New", rank: 1, id: "mine", version: 7, author: { id: "ann" } };
    const made = await send("POST", "/posts", { body });
    expect([made.status, made.headers.get("x-ignored-fields")]).toEqual([201, "rank"]);
    expect(made.json).toMatchObject({ rank: null, version: 1, authorId: "ann" });
    expect(made.json.id).not.toBe("mine");
    for (const [given, status] of [
      [{ id: "p2" }, 400],
      [{ titel: "x" }, 400],
      [{ author: "ann" }, 400],
      [{ authorId: "bob" }, 403],
      [[], 400],
    ] as const)
      expect((await send("PATCH", "/posts/p1", { body: given })).status, JSON.stringify(given)).toBe(status);
  });

  it("refuses other content types and large bodies", async () => {
    const headers = { "content-type": "text/csv" };
    expect((await send("POST", "/posts", { body: {}, headers })).json.code).toBe("UNSUPPORTED_MEDIA_TYPE");
    expect((await send("POST", "/posts")).json.code).toBe("UNSUPPORTED_MEDIA_TYPE");
    const body = { title: "x".repeat(1_048_577) };
    expect((await send("POST", "/posts", { body })).json.code).toBe("PAYLOAD_TOO_LARGE");
  });
});

describe("docs/reference/http.md: headers", () => {
  it("sends those of every response with its value", async () => {
    const rows = tableBelow(page, "Response headers");
    expect(rows.length).toBe(4);
    for (const { headers, json } of [await list("_limit=1"), await list("titel=x"), await send("OPTIONS", "/posts")])
      for (const [name, value] of rows) {
        const sent = headers.get((name as string).replaceAll("`", ""));
        if (name !== "`X-Request-Id`") expect(value).toContain(`\`${sent}\``);
        else if (json?.requestId !== undefined) expect(sent).toBe(json.requestId);
      }
  });

  it("carries versions, repetitions and quotas", async () => {
    const read = await send("GET", "/posts/p1");
    const etag = read.headers.get("etag") as string;
    expect((await send("GET", "/posts/p1", { headers: { "if-none-match": etag } })).status).toBe(304);
    const change = (tag: string) => send("PATCH", "/posts/p1", { body: { views: 2 }, headers: { "if-match": tag } });
    expect([(await change('"9"')).status, (await change(etag)).status, (await change('"2"')).status]).toEqual([
      412, 200, 200,
    ]);
    const once = (title: string) => send("POST", "/posts", { body: { title }, headers: { "idempotency-key": "k" } });
    const [first, again, other] = [await once("Once"), await once("Once"), await once("Other")];
    expect([again.status, again.json]).toEqual([201, first.json]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(other.json.code).toBe("IDEMPOTENCY_KEY_REUSED");
    expect(read.headers.get("ratelimit-policy")).toContain('"caller";q=300;w=60');
    expect(read.headers.get("ratelimit")).toMatch(/"caller";r=\d+;t=\d+/);
  });
});

describe("docs/reference/http.md: errors", () => {
  it("has the codes of the catalogue with their status, and no other", () => {
    const catalogue = pageOf("errors")
      .split("\n")
      .map((row) => /^\| `([A-Z_]+)` \| (\d+) \|/.exec(row))
      .filter((found) => found !== null)
      .map(([, code, status]) => `${status} ${code}`);
    const named = page
      .split("\n")
      .map((row) => /^\| (\d{3}) \| (`[A-Z_]+`.*) \|$/.exec(row))
      .flatMap((found) => [...(found?.[2] ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => `${found?.[1]} ${code}`));
    expect(named.sort()).toEqual(catalogue.sort());
  });

  it("have the shape of the example", async () => {
    const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "null");
    const { status, headers, json } = await send("POST", "/posts", { body: { title: "x" } });
    expect(json).toEqual({ ...example, requestId: headers.get("x-request-id") });
    expect(status).toBe(example.status);
    const problem = await send("GET", "/posts?titel=x", { headers: { accept: "application/problem+json" } });
    expect(problem.headers.get("content-type")).toBe("application/problem+json");
    expect(problem.json).toMatchObject({ title: "BAD_REQUEST", instance: "/api/posts", status: 400 });
  });
});

describe("docs/reference/http.md: requests from other sites", () => {
  it.each([
    [403, { "sec-fetch-site": "cross-site" }],
    [403, { "content-type": "text/plain", cookie: "session=1" }],
    [401, { "sec-fetch-site": "same-origin" }],
    [401, {}],
  ])("are %i with %o", async (status, headers) => {
    expect((await send("POST", "/posts", { token: undefined, body: {}, headers })).status).toBe(status);
  });

  it("are accepted with a bearer token", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await send("POST", "/posts", { body: { title: "New" }, headers })).status).toBe(201);
  });
});

describe("docs/reference/invariants.md", () => {
  const promises = pageOf("invariants")
    .split(/^(?=\d+\. )/m)
    .slice(1);

  it("numbers its promises in order", () => {
    expect(promises.map((promise) => Number.parseInt(promise, 10))).toEqual(promises.map((_, index) => index + 1));
  });

  it.each(promises.map((promise) => [promise.split("**")[1], promise]))("names the tests of: %s", (_, promise) => {
    const files = [...(promise as string).matchAll(/`(test\/[^`]+)`/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(repositoryRoot, file)))).toEqual([]);
  });
});
