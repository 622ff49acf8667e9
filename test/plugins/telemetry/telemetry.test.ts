import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { serve } from "../../../src/adapters/node/index.ts";
import { httpService, keelson, memoryDriver, postgres } from "../../../src/index.ts";
import { telemetry } from "../../../src/plugins/telemetry/index.ts";
import { loadApi } from "../../../src/plugins/telemetry/spans.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { freshPostgres } from "../../support/databases.ts";
import { plan, subscription } from "../../support/remote/billing-entities.ts";
import { customer, person } from "../../support/remote/shop.ts";
import { CANARIES, serveBlog } from "./blog.ts";
import { outline, recordSpans } from "./recorder.ts";

const recorded = recordSpans();
afterAll(recorded.shutdown);
beforeEach(recorded.reset);

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

const listening = (api: Parameters<typeof serve>[0]) => serve(api, { port: 0, hostname: "127.0.0.1", signals: false });

describe("spans", () => {
  it("show a list with its include as a tree: request, operation, phases, statements", async () => {
    const database = await freshPostgres();
    onTestFinished(database.drop);
    const { ask } = await serveBlog({ phases: false }, postgres(database.url));
    recorded.reset();
    expect((await ask("GET", "/api/posts?include=author&title_like=canary")).status).toBe(200);
    const [statement] = recorded.named("find post");
    expect(statement?.kind).toBe(SpanKind.CLIENT);
    expect(statement?.attributes).toEqual({
      "db.system.name": "postgresql",
      "db.operation.name": "find",
      "db.collection.name": "post",
    });
    expect(outline(recorded.tree("GET /api/posts"))).toEqual([
      "GET /api/posts",
      "  list post",
      "    find post",
      "    count post",
      "    list author",
      "      find author",
    ]);
  });

  it("show each function of a phase, and its plugin", async () => {
    const { ask } = await serveBlog();
    recorded.reset();
    await ask("GET", "/api/posts?include=author&_total=none");
    const lines = outline(recorded.tree("GET /api/posts"));
    expect(lines.slice(0, 3)).toEqual(["GET /api/posts", "  list post", "    policy:rules"]);
    // Operations that a phase starts itself are its children.
    const joined = lines.slice(lines.indexOf("    operation:join"));
    expect(joined.slice(0, joined.indexOf("      list author") + 1).every((line) => line.startsWith("    "))).toBe(
      true,
    );
    expect(joined).toContain("        find author");
    expect(recorded.named("policy:rules").map(({ attributes }) => attributes)).toContainEqual({
      "keelson.plugin": "rules",
    });
  });

  it("name a request by the semantic conventions, without path and query", async () => {
    const { ask } = await serveBlog();
    recorded.reset();
    const { headers } = await ask("GET", "/api/posts/p1?select=title");
    const [span] = recorded.named("GET /api/posts/:id");
    expect(span?.kind).toBe(SpanKind.SERVER);
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
    expect(span?.attributes).toEqual({
      "http.request.method": "GET",
      "http.route": "/api/posts/:id",
      "http.response.status_code": 200,
      "keelson.request.id": headers.get("x-request-id"),
    });
  });

  it("have no route if none matches, and no invented method", async () => {
    const { url } = await serveBlog();
    recorded.reset();
    await fetch(`${url}/nowhere/ann`, { method: "PROPFIND" });
    await fetch(`${url}/nowhere/ann`);
    expect(recorded.spans().map(({ name }) => name)).toEqual(["HTTP", "GET"]);
    expect(recorded.named("HTTP")[0]?.attributes).toMatchObject({
      "http.request.method": "_OTHER",
      "http.response.status_code": 404,
    });
  });

  it("show a refused request, without a statement or a server error", async () => {
    const { ask } = await serveBlog({ phases: false });
    recorded.reset();
    expect((await ask("DELETE", "/api/posts/p1")).status).toBe(401);
    expect(outline(recorded.tree("DELETE /api/posts/:id"))).toEqual(["DELETE /api/posts/:id", "  delete post"]);
    const [operation] = recorded.named("delete post");
    expect(operation?.attributes["error.type"]).toBe("UNAUTHENTICATED");
    expect(operation?.status.code).toBe(SpanStatusCode.UNSET);
    expect(recorded.named("DELETE /api/posts/:id")[0]?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it("show a failure by its class, and as the server's", async () => {
    const { ask } = await serveBlog();
    recorded.reset();
    expect((await ask("GET", "/broken")).status).toBe(500);
    const [span] = recorded.named("GET /broken");
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.attributes).toMatchObject({ "http.response.status_code": 500, "error.type": "500" });
    expect(span?.events).toEqual([]);
  });

  it("show a workflow: its steps, their operations, and compensations", async () => {
    const { ask } = await serveBlog({ phases: false });
    recorded.reset();
    expect((await ask("POST", "/api/posts/p1/publish", { token: "ann" })).status).toBe(500);
    const lines = outline(recorded.tree("workflow post.publish")).filter((line) => !/workflow(Run|Step)/.test(line));
    const steps = lines.filter((line) => /^ {2}\w/.test(line) && !/transaction/.test(line));
    expect(steps).toEqual(["  execute edit", "  execute announce", "  compensate edit"]);
    expect(lines.slice(lines.indexOf("  execute edit"), lines.indexOf("  execute announce")).join("\n")).toContain(
      "update post",
    );
    expect(recorded.named("execute announce")[0]?.attributes).toEqual({
      "keelson.step": "announce",
      "keelson.step.phase": "execute",
      "keelson.step.attempt": 1,
      "error.type": "TypeError",
    });
    const [run] = recorded.named("workflow post.publish");
    const [posted] = recorded.named("POST /api/posts/:id/publish");
    expect(run?.spanContext().traceId).toBe(posted?.spanContext().traceId);
  });

  it("end with the last byte of a stream", async () => {
    const { url } = await serveBlog();
    recorded.reset();
    const response = await fetch(`${url}/api/posts/export?format=csv`);
    await response.text();
    await expect.poll(() => recorded.named("GET /api/posts/export").length).toBe(1);
    const ends = recorded.spans().map(({ endTime: [seconds, nanoseconds] }) => seconds * 1e9 + nanoseconds);
    expect(recorded.spans().at(-1)?.name).toBe("GET /api/posts/export");
    expect(Math.max(...ends)).toBe(ends.at(-1));
    // Reads for the stream are part of the request too.
    expect(new Set(recorded.spans().map((span) => span.spanContext().traceId)).size).toBe(1);
  });

  it("show in-process work without a request", async () => {
    const { api } = await serveBlog({ phases: false });
    recorded.reset();
    await api.as({ id: "ann" }).post.get("p1");
    expect(outline(recorded.tree("read post"))).toEqual(["read post", "  find post"]);
  });
});

describe("traces", () => {
  it("continue the trace in a request's headers", async () => {
    const { ask } = await serveBlog();
    recorded.reset();
    await ask("GET", "/api/posts/p1", { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
    const [span] = recorded.named("GET /api/posts/:id");
    expect(span?.spanContext().traceId).toBe(TRACE);
    expect(span?.parentSpanContext?.spanId).toBe(PARENT);
    recorded.reset();
    await ask("GET", "/api/posts/p1", { headers: { traceparent: "00-nonsense" } });
    expect(recorded.named("GET /api/posts/:id")[0]?.parentSpanContext).toBeUndefined();
  });

  it("are recorded when the parent span is", async () => {
    const { ask } = await serveBlog();
    recorded.reset();
    await ask("GET", "/api/posts/p1", { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
    expect(recorded.spans()).toEqual([]);
  });

  it("belong to the host's trace, if it has started one", async () => {
    const { api } = await serveBlog();
    recorded.reset();
    const host = trace.getTracer("host").startSpan("host");
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    await context.with(trace.setSpan(context.active(), host), () =>
      api.fetch(new Request("http://host/api/posts/p1", { headers })),
    );
    host.end();
    const [span] = recorded.named("GET /api/posts/:id");
    expect(span?.parentSpanContext?.spanId).toBe(host.spanContext().spanId);
    expect(span?.kind).toBe(SpanKind.INTERNAL);
  });

  it("continue through a remote join into the other service", async () => {
    const billing = keelson({
      entities: [subscription, plan],
      driver: memoryDriver({
        subscription: [{ id: "s1", status: "on", planId: "gold" }],
        plan: [{ id: "gold", name: "Gold" }],
      }),
      plugins: [telemetry({ phases: false })],
    });
    const other = await listening(billing);
    onTestFinished(other.close);
    const shop = keelson({
      entities: [customer, person],
      driver: memoryDriver({ customer: [{ id: "c1", name: "Ann", subscriptionId: "s1" }] }),
      plugins: [telemetry({ phases: false })],
    });
    shop.registerService("billing", () => httpService({ baseUrl: `${other.url}/api` }));
    const own = await listening(shop);
    onTestFinished(own.close);
    const response = await fetch(`${own.url}/api/customers/c1?include=subscription`);
    expect(await response.json()).toMatchObject({ subscription: { id: "s1" } });
    await expect.poll(() => recorded.named("GET /api/subscriptions").length).toBe(1);
    const lines = outline(recorded.tree("GET /api/customers/:id"));
    const call = lines.findIndex((line) => line.endsWith("fetch subscription"));
    expect(lines[call + 1]?.trim()).toBe("GET /api/subscriptions");
    expect(recorded.named("fetch subscription")[0]?.attributes).toEqual({
      "keelson.service": "billing",
      "keelson.entity": "subscription",
    });
  });
});

/** Every route of the blog, with and without errors. */
async function askAll({ ask, url }: Awaited<ReturnType<typeof serveBlog>>): Promise<void> {
  const { name, email, title, body, token: secret } = CANARIES;
  await ask("GET", `/api/posts?title_like=${title}&q=${body}&include=author`, { token: "ann" });
  await ask("GET", "/api/authors/ann", { token: "ann" });
  await ask("GET", `/api/authors?email=${encodeURIComponent(email)}`, { token: secret });
  await ask("GET", `/api/posts/${title}`, { token: "ann" });
  await ask("POST", "/api/posts", { token: "ann", body: { title, body, authorId: "ann" } });
  await ask("POST", "/api/posts", { token: "ann", body: { title, [name]: body } });
  await ask("POST", "/api/authors", { body: { id: secret, name, email, password: secret } });
  await ask("POST", "/api/authors", { body: { name, email, password: CANARIES.password, secret } });
  await ask("PATCH", "/api/authors/ann", {
    token: "ann",
    body: { secret: CANARIES.secret, password: CANARIES.password },
  });
  await ask("POST", "/api/posts/p1/publish", { token: "ann", body: { title } });
  await ask("GET", "/broken");
  await (await fetch(`${url}/api/posts/export?title=${title}`)).text();
  await (await fetch(`${url}/${title}?${secret}`)).text();
}

describe("the attributes of spans", () => {
  it("contain no record value, query, id or message by default", async () => {
    const blog = await serveBlog();
    await askAll(blog);
    const text = recorded.text();
    expect(recorded.spans().length).toBeGreaterThan(100);
    expect(text).not.toMatch(/canary/);
    expect(text).not.toMatch(/"ann"|"p1"|enduser|127\.0\.0\.1/);
  });

  it("contain ids and users if enabled, and still no value", async () => {
    const blog = await serveBlog({ ids: true, userId: true });
    recorded.reset();
    await blog.ask("GET", "/api/posts/p1", { token: "ann" });
    expect(recorded.named("read post")[0]?.attributes["keelson.record.id"]).toBe("p1");
    expect(recorded.named("GET /api/posts/:id")[0]?.attributes["enduser.id"]).toBe("ann");
    await blog.ask("POST", "/api/posts/p1/publish", { token: "ann" });
    expect(recorded.named("workflow post.publish")[0]?.attributes["keelson.workflow.run_id"]).toEqual(
      expect.any(String),
    );
    expect(recorded.text()).not.toMatch(/canary/);
  });

  it("contain nothing about statements and phases if disabled", async () => {
    const { ask } = await serveBlog({ statements: false, phases: false });
    recorded.reset();
    await ask("GET", "/api/posts/p1");
    expect(outline(recorded.tree("GET /api/posts/:id"))).toEqual(["GET /api/posts/:id", "  read post"]);
  });
});

describe("the plugin", () => {
  it("is the only source of tracing: an app without it has no tracer", () => {
    const api = keelson({ entities: [], driver: memoryDriver() });
    expect(api.hasService("kernel.tracer")).toBe(false);
    return api.close();
  });

  it("logs that the package is not installed, and the app works", async () => {
    const logger = recordingLogger();
    const missing = () => Promise.reject(new Error("Cannot find package '@opentelemetry/api'"));
    expect(await loadApi(logger, missing)).toBeUndefined();
    expect(logger.lines.join()).toContain('records nothing without "@opentelemetry/api". Run: npm i');
  });

  it.each([
    [{ statments: true }, 'there is no option "statments". Did you mean "statements"?'],
    [{ ids: "yes" }, "`ids` is true or false"],
  ])("keeps an app from starting when its options are invalid: %j", (options, problem) => {
    expect(() => keelson({ entities: [], driver: memoryDriver(), plugins: [telemetry(options as object)] })).toThrow(
      problem,
    );
  });
});
