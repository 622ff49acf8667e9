import { Readable } from "node:stream";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type ActionContext,
  action,
  belongsTo,
  conflictError,
  entity,
  forbiddenError,
  internalError,
  memoryDriver,
  notFoundError,
  string,
  unauthorizedError,
  validationError,
} from "../../../src/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";
import { request, startApp } from "../../support/http.ts";

// A handler's arguments, and the response to its result.

type Handler = (context: ActionContext) => unknown;
let handle: Handler = () => undefined;
let handleRecord: Handler = () => undefined;

const account = entity("account", { name: string }).rules({ read: ["everyone"] });
const note = entity("note", { title: string.min(2), owner: belongsTo(() => account).optional() })
  .ownedBy("owner")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] })
  .actions({
    run: action()
      .rules("everyone")
      .handler((context) => handle(context as ActionContext)),
    look: action()
      .get()
      .rules("everyone")
      .handler((context) => handle(context as ActionContext)),
    one: action()
      .onResource()
      .rules("everyone")
      .handler((context) => handleRecord(context as ActionContext)),
  });

const logger = recordingLogger();
const times = { createdAt: new Date(0), updatedAt: new Date(0) };
const driver = memoryDriver();
const app = createTestApp({
  entities: [account, note],
  driver,
  logger,
  services: { clockwork: () => ({ tick: () => "tock" }) },
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.api.driver.create("account", { id: "ann", name: "Ann", ...times });
  await app.api.driver.create("note", { id: "n1", title: "First", ownerId: "ann", ...times });
});
afterEach(async () => {
  await app.api.driver.deleteMany("note", { id: { null: false } });
  await app.api.driver.deleteMany("account", { id: { null: false } });
  handle = () => undefined;
});

const ann = app.as({ id: "ann" });
const post = (body?: unknown) => ann.request("POST", "/api/notes/run", body);
const titles = async (): Promise<unknown[]> => (await app.api.driver.findMany("note")).map(({ title }) => title).sort();

describe("the context", () => {
  it("contains the caller, the action, the record and the request", async () => {
    let seen: Record<string, unknown> = {};
    handleRecord = (context) => {
      const { params, query, input, user, entity: of, record, root, search, contentType, rules } = context;
      seen = { params, query, input, user, entity: of.name, record, root, search, contentType, rules };
      seen.agent = [context.headers.get("User-Agent"), context.headers.get("x-nothing")];
    };
    await ann.request("POST", "/api/notes/n1/one?a=1", { b: 2 }, { "user-agent": "test" });
    expect(seen).toMatchObject({
      params: { id: "n1" },
      query: { a: "1" },
      input: { b: 2 },
      user: { id: "ann" },
      entity: "note",
      record: { id: "n1", title: "First", ownerId: "ann" },
      root: "/api",
      search: "a=1",
      contentType: "application/json",
      rules: ["everyone"],
      agent: ["test", null],
    });
  });

  it("has no record on the collection, and no request in the process", async () => {
    let seen: unknown[] = [];
    handle = ({ record, request: raw, user, headers, root, search, body, contentType }) => {
      seen = [record, raw, user?.id, headers.get("accept"), root, search, body, contentType];
    };
    await app.api.as({ id: "bob" }).note.run();
    expect(seen).toEqual([null, undefined, "bob", null, "", "", undefined, ""]);
    await app.api.asSystem().note.run();
    expect(seen.slice(0, 3)).toEqual([null, undefined, undefined]);
  });

  it("has Keelson's own request, and a signal that aborts when the client disconnects", async () => {
    let raw: unknown;
    let isAborted: boolean | undefined;
    handle = ({ request: outer, signal }) => {
      raw = outer;
      isAborted = signal?.aborted;
    };
    const own = createTestApp({ entities: [account, note], logger });
    const running = await startApp(own.api);
    await request(running.url, "GET", "/api/notes/look");
    await running.close();
    expect(raw).toHaveProperty("url", "/api/notes/look");
    expect(isAborted).toBe(false);
  });

  it("finds services, at once or later, also when its functions are destructured", async () => {
    handle = async ({ resolve, resolveAsync }) => [
      resolve<{ tick(): string }>("clockwork").tick(),
      (await resolveAsync<{ tick(): string }>("clockwork")).tick(),
    ];
    expect((await post()).body).toEqual(["tock", "tock"]);
  });

  it("logs with the app's logger", async () => {
    handle = ({ log }) => log.info("Something happened");
    await post();
    expect(logger.lines.join()).toContain("Something happened");
  });
});

describe("the client of a context", () => {
  it("obeys the caller's rules, unlike the driver", async () => {
    handle = async ({ client, driver: store }) => {
      await store.update("note", { id: "n1" }, { title: "By the driver" });
      return client("note").update("n1", { title: "By bob" } as never);
    };
    const refused = await app.as({ id: "bob" }).request("POST", "/api/notes/run");
    expect(refused.status).toBe(403);
    expect(await titles()).toEqual(["By the driver"]);
    handle = ({ client }) => client(note).update("n1", { title: "By ann" });
    expect((await post()).body).toMatchObject({ title: "By ann" });
    handle = ({ client }) => client("nothing").count();
    expect((await post()).status).toBe(404);
  });

  it("has the actions of entities, as the same caller", async () => {
    handleRecord = ({ user, params }) => [user?.id, params.id];
    handle = ({ client }) => (client("note") as unknown as { one(id: string): Promise<unknown> }).one("n1");
    expect((await post()).body).toEqual(["ann", "n1"]);
  });
});

describe("a transaction of a context", () => {
  it("commits its driver's, client's and actions' writes together, or not at all", async () => {
    handleRecord = ({ driver: store }) => store.create("note", { id: "n4", title: "Fourth", ...times });
    let fails = true;
    handle = ({ transaction, record, user }) =>
      transaction(async (inner) => {
        expect([inner.record, inner.user]).toEqual([record, user]);
        await inner.driver.create("note", { id: "n2", title: "Second", ...times });
        await inner.client(note).create({ title: "Third" });
        await (inner.client("note") as unknown as { one(id: string): Promise<unknown> }).one("n1");
        expect(await inner.driver.count("note")).toBe(4);
        if (fails) throw conflictError("Not today");
        return inner.driver.count("note");
      });
    expect(await post()).toMatchObject({ status: 409, body: { message: "Not today" } });
    expect(await titles()).toEqual(["First"]);
    fails = false;
    expect(await post()).toMatchObject({ status: 200, body: 4 });
    expect(await titles()).toEqual(["First", "Fourth", "Second", "Third"]);
  });

  it("joins the open transaction", async () => {
    handle = ({ transaction }) =>
      transaction(async (outer) => {
        await outer.transaction((inner) => inner.driver.create("note", { id: "n2", title: "Second", ...times }));
        throw conflictError();
      });
    expect((await post()).status).toBe(409);
    expect(await titles()).toEqual(["First"]);
  });
});

describe("an error that a handler throws", () => {
  it.each([
    ["notFoundError", () => notFoundError("No such thing"), 404, "No such thing"],
    ["validationError", () => validationError({ title: "is dull" }), 400, "is dull"],
    ["unauthorizedError", () => unauthorizedError("Who are you?"), 401, "Who are you?"],
    ["forbiddenError", () => forbiddenError("Not you"), 403, "Not you"],
    ["conflictError", () => conflictError("Already so"), 409, "Already so"],
    ["internalError", () => internalError("Broken"), 500, "Broken"],
  ])("by %s becomes the response", async (_name, make, status, text) => {
    handle = () => {
      throw make();
    };
    const answer = await post();
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(text);
  });

  it("otherwise is a 500 without details, which the development log has", async () => {
    handle = () => {
      throw new TypeError("secret detail");
    };
    const answer = await post();
    expect(answer).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
    expect(JSON.stringify(answer.body)).not.toContain("secret");
    expect(logger.lines.join()).toContain("secret detail");
  });
});

describe("the result of a handler", () => {
  it.each<[string, Handler, number, unknown]>([
    ["a value", () => ({ a: [1, { at: new Date(0) }] }), 200, { a: [1, { at: "1970-01-01T00:00:00.000Z" }] }],
    ["null", () => null, 200, null],
    ["nothing", () => undefined, 204, ""],
    ["a promise", async () => "later", 200, "later"],
    ["ctx.json", ({ json }) => json({ made: true }, 201), 201, { made: true }],
    ["ctx.json without a status", ({ json }) => json([]), 200, []],
    ["a map and a set", () => ({ m: new Map([["k", 1]]), s: new Set([2]) }), 200, { m: { k: 1 }, s: [2] }],
    ["a Response", () => new Response("teapot", { status: 418 }), 418, "teapot"],
    ["bytes", () => new TextEncoder().encode("bytes"), 200, "bytes"],
    ["a stream", () => Readable.from(["one,", "two"]), 200, "one,two"],
  ])("as %s becomes the response", async (_what, handler, status, body) => {
    handle = handler;
    const answer = await post();
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  it("as ctx.redirect redirects the caller", async () => {
    handle = ({ redirect }) => redirect("/somewhere?x=%C3%A9");
    const answer = await post();
    expect([answer.status, answer.headers.get("location"), answer.body]).toEqual([302, "/somewhere?x=%C3%A9", ""]);
    handle = ({ redirect }) => redirect("/moved", 308);
    expect((await post()).status).toBe(308);
    handle = ({ redirect }) => redirect("/a\r\nset-cookie: x=1");
    expect((await post()).status).toBe(500);
  });

  it("has the headers of every response, and its own", async () => {
    handle = () => new Response("x", { headers: { "x-own": "1" } });
    const { headers } = await post();
    expect([headers.get("x-own"), headers.get("x-content-type-options")]).toEqual(["1", "nosniff"]);
  });

  it("cannot be written if it is circular", async () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    handle = () => circle;
    expect((await post()).status).toBe(500);
  });
});
