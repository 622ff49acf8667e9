import { createPlugin, endpoint, keelson, memoryDriver, noopLogger, Reply } from "keelson";
import { type OpenApiDocument, openapiDocument } from "keelson/openapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BODY_CASES } from "../../support/adapter-body-cases.ts";
import { ANSWER_CASES, TARGET_CASES } from "../../support/adapter-target-cases.ts";
import { createContractApp } from "../../support/contract-app.ts";
import { rawRequest, request, startApp } from "../../support/http.ts";
import { createConformance, type Exchange } from "../../support/openapi-conformance.ts";
import { createFilledApp } from "./documented-app.ts";

describe("responses of the adapter contract", () => {
  it("are documented: route, status, headers and body, unless the route is unknown", async () => {
    const api = await createContractApp();
    const server = await startApp(api);
    const check = createConformance(await openapiDocument(api));
    const problems: string[] = [];
    const elsewhere: string[] = [];
    let checked = 0;
    for (const { bytes } of [...TARGET_CASES, ...ANSWER_CASES, ...BODY_CASES]) {
      const sent = bytes({ root: "/api", endpoints: "" });
      const [method = "", target = ""] = sent.toString("latin1").split(" ", 2);
      const url = target.replace(/^http:\/\/[^/]+/, "");
      if (method === "HEAD" || method === "OPTIONS") continue;
      const [answer] = await rawRequest(server.port, sent);
      if (answer === undefined) continue;
      const { status, body: text, headers } = answer;
      const found = check({
        method,
        url,
        status,
        headers: new Headers(headers.map(([name, value]): [string, string] => [name, value])),
        text,
      });
      if (found.some((problem) => problem.endsWith(": not documented")))
        elsewhere.push(`${status} ${url.slice(0, 80)}`);
      else
        problems.push(
          ...found.filter(
            (problem) => !/header (date|connection|keep-alive|set-cookie|transfer-encoding)/.test(problem),
          ),
        );
      checked += 1;
    }
    await server.close();
    expect(problems).toEqual([]);
    expect(elsewhere.filter((line) => !/^(400|404|405) /.test(line))).toEqual([]);
    expect(checked - elsewhere.length).toBeGreaterThan(40);
  });
});

describe("responses of an app with every prebuilt action", () => {
  let api: Awaited<ReturnType<typeof createFilledApp>>;
  let document: OpenApiDocument;
  beforeAll(async () => {
    api = await createFilledApp();
    document = await openapiDocument(api);
  });
  afterAll(() => api.close());

  const JSON_TYPE = "application/json";
  async function exchange(line: string, body?: unknown, type = JSON_TYPE): Promise<Exchange> {
    const [who = "", method = "", url = ""] = line.split(" ");
    const response = await api.fetch(
      new Request(`http://shop.example${url}`, {
        method,
        headers: {
          ...(who === "nobody" ? {} : { authorization: `Bearer ${who}` }),
          ...(body === undefined ? {} : { "content-type": type }),
        },
        body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
    return { method, url, status: response.status, headers: response.headers, text: await response.text() };
  }

  const CASES: readonly (readonly [line: string, status: number, body?: unknown, type?: string])[] = [
    ["nobody GET /api/posts", 200],
    ["ann GET /api/posts?include=author.posts,tags&_limit=2&_sort=-rating&title_like=post", 200],
    ["ann GET /api/posts?select=title,at&_total=none&_after=", 200],
    ["boss GET /api/users?include=posts&email_like=ann", 200],
    ["ann GET /api/users", 200],
    ["nobody GET /api/users?email_like=ann", 400],
    ["nobody GET /api/posts/aggregate?group=published,month(createdAt)&count&max=views", 200],
    ["nobody GET /api/posts/aggregate?sum=title", 400],
    ["boss GET /api/users/aggregate?count", 200],
    ["ann GET /api/tags/aggregate?count", 200],
    ["nobody GET /api/posts/p1?include=author", 200],
    ["nobody GET /api/posts/p1?select=title", 200],
    ["nobody GET /api/posts/none", 404],
    ["nobody POST /api/users", 201, { name: "Eve", email: "eve@shop.example", password: "correct horse" }],
    ["nobody POST /api/users", 409, { name: "Eve", email: "eve@shop.example", password: "correct horse" }],
    ["nobody POST /api/users", 400, { name: "" }],
    ["nobody POST /api/users", 400, "{"],
    ["nobody POST /api/users", 413, "x".repeat(1_048_577)],
    ["nobody POST /api/users", 415, "a=b", "text/plain"],
    ["nobody POST /api/posts", 401, { title: "Mine" }],
    ["ann POST /api/posts", 201, { title: "Mine", tagsIds: ["t1"], views: 3, at: "2024-05-31", meta: null }],
    ["ann POST /api/posts", 403, { title: "Not mine", authorId: "boss" }],
    ["ann POST /api/tags", 403, { label: "fresh" }],
    ["boss POST /api/tags", 201, { label: "fresh" }],
    ["boss POST /api/tags", 409, { label: "fresh" }],
    ["boss POST /api/tags", 400, { label: "NOT" }],
    ["boss PUT /api/tags?_on=label", 201, { label: "upserted" }],
    ["boss PUT /api/tags?_on=label", 403, { label: "upserted" }],
    ["boss PUT /api/tags", 400, { label: "upserted" }],
    ["ann PUT /api/tags?_on=label", 403, { label: "mine" }],
    ["ann PUT /api/posts?_on=title", 400, { title: "no unique field" }],
    ["nobody PUT /api/users?_on=email", 400, { name: "no key" }],
    ["boss POST /api/batch", 200, [{ method: "POST", path: "/tags", body: { label: "batched" } }]],
    ["boss POST /api/batch", 409, [{ method: "POST", path: "/tags", body: { label: "batched" } }]],
    ["nobody POST /api/batch", 400, {}],
    ["ann PATCH /api/posts/p1", 200, { title: "Another", rating: null }],
    ["ann PUT /api/posts/p1?select=title", 200, { title: "Again" }],
    ["ann PATCH /api/posts/none", 404, { title: "Another" }],
    ["ann PATCH /api/users/boss", 403, { name: "Me" }],
    ["boss DELETE /api/users/ann", 409],
    ["ann DELETE /api/posts/p3", 200],
    ["ann DELETE /api/posts/p3", 404],
    ["nobody GET /api/posts/count?published=false", 200],
    ["nobody GET /api/posts/count?_sort=title", 400],
    ["nobody GET /api/posts/p1/exists", 200],
    ["nobody GET /api/posts/none/exists", 200],
    ["nobody GET /api/posts/export", 200],
    ["nobody GET /api/posts/export?format=csv&select=title", 200],
    ["nobody GET /api/posts/export?format=ndjson", 200],
    ["nobody GET /api/posts/export?format=xml", 400],
    ["ann POST /api/posts/import", 200, [{ title: "One" }, { title: "" }]],
    ["ann POST /api/posts/import?dryRun=true", 200, "title\r\nTwo\r\nThree\r\n", "text/csv"],
    ["ann POST /api/posts/import", 415, "title", "text/plain"],
    ["nobody POST /api/posts/import", 401, [{ title: "One" }]],
    ["ann POST /api/posts/p1/toggle-published", 200],
    ["nobody POST /api/posts/p1/toggle-published", 401],
    ["ann POST /api/posts/p1/clone", 201],
    ["ann POST /api/posts/none/clone", 404],
    ["ann PUT /api/posts/bulk", 200, { ids: ["p1", "p2"], data: { published: true } }],
    ["ann POST /api/posts/bulk-update", 400, { ids: [], data: {} }],
    ["ann DELETE /api/posts/p2/soft", 200],
    ["ann GET /api/posts?_deleted=only", 200],
    ["nobody GET /api/posts?_deleted=only", 401],
    ["ann POST /api/posts/p2/restore", 200],
    ["ann POST /api/posts/bulk-delete", 200, { ids: ["p2"] }],
    ["ann POST /api/posts/p1/rename", 200, { title: "Louder", loud: true }],
    ["ann POST /api/posts/p1/rename", 400, { title: "x" }],
    ["ann POST /api/posts/none/rename", 404, { title: "Louder" }],
    ["nobody GET /api/posts/stats?top=5", 200],
    ["nobody GET /api/posts/stats?top=50", 400],
    ["ann POST /api/posts/secretly", 403],
    ["boss POST /api/posts/secretly", 200],
    ["boss GET /teapots/3", 202],
    ["ann GET /teapots/3", 403],
    ["nobody GET /ping", 200],
    ["nobody GET /openapi.json?as=public", 200],
    ["nobody GET /openapi.json?as=boss", 400],
    ["nobody GET /health/live", 200],
    ["nobody GET /health/ready", 200],
  ];

  it("are documented: route, status, headers and body", async () => {
    const check = createConformance(document);
    const statuses: unknown[] = [];
    const problems: string[] = [];
    for (const [line, , body, type] of CASES) {
      const answer = await exchange(line, body, type);
      statuses.push([line, answer.status]);
      problems.push(...check(answer));
    }
    expect(statuses).toEqual(CASES.map(([line, status]) => [line, status]));
    expect(problems).toEqual([]);
  });

  it("cover every operation of the document that a caller can use in this app", () => {
    const asked = CASES.map(([line]) => line.split(" ").slice(1)).map(([method = "", url = ""]) => ({
      method: method.toLowerCase(),
      path: url.split("?", 1)[0] as string,
    }));
    const missed = Object.entries(document.paths).flatMap(([path, item]) => {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.")}$`);
      return Object.keys(item)
        .filter((method) => !asked.some((one) => one.method === method && pattern.test(one.path)))
        .map((method) => `${method} ${path}`);
    });
    expect(missed.sort()).toEqual(
      [
        "delete /api/posts/bulk", // the same action as POST /bulk-delete
        "get /api/tags",
        "put /api/users/{id}",
      ].sort(),
    );
  });

  it("with an undocumented status, header or member are detected", async () => {
    const check = createConformance(document);
    const good = await exchange("nobody GET /api/posts/p1");
    expect(check(good)).toEqual([]);
    expect(check({ ...good, status: 418 })).toEqual(["GET /api/posts/p1 -> 418: the status is not documented"]);
    expect(check({ ...good, headers: new Headers({ ...Object.fromEntries(good.headers), "x-new": "1" }) })).toEqual([
      "GET /api/posts/p1 -> 200: the header x-new is not documented",
    ]);
    expect(check({ ...good, text: JSON.stringify({ ...JSON.parse(good.text), email: "a" }) })).not.toEqual([]);
    expect(check({ ...good, text: JSON.stringify({ ...JSON.parse(good.text), title: null }) })).not.toEqual([]);
    expect(check({ ...good, url: "/api/nothing" })).toEqual(["GET /api/nothing -> 200: not documented"]);
  });

  it("are documented in the RFC 9457 format too", async () => {
    const check = createConformance(document);
    for (const url of ["/api/posts/none", "/api/posts?nothing=1"]) {
      const response = await api.fetch(
        new Request(`http://shop.example${url}`, { headers: { accept: "application/problem+json" } }),
      );
      const { status, headers } = response;
      expect(headers.get("content-type")).toContain("application/problem+json");
      expect(check({ method: "GET", url, status, headers, text: await response.text() })).toEqual([]);
    }
  });
});

describe("an app that tests serve", () => {
  it("fails the test if a response has an undocumented status", async () => {
    const content = { "application/json": { type: "object", properties: { done: { type: "boolean" } } } };
    const work = createPlugin({
      id: "work",
      endpoints: {
        work: endpoint("/jobs/:status", {
          rules: ["everyone"],
          describe: () => ({ answers: { 200: { description: "Done.", content } } }),
          handler: ({ params }) => new Reply(Number(params.status), { done: true }),
        }),
      },
    });
    const api = keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, plugins: [work] });
    const { url, close } = await startApp(api);
    expect((await request(url, "GET", "/jobs/200")).json).toEqual({ done: true });
    await expect(request(url, "GET", "/jobs/202")).rejects.toThrow(
      "GET /jobs/202 -> 202: the status is not documented",
    );
    await close();
  });
});
