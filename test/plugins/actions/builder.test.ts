import { once } from "node:events";
import { afterAll, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  bool,
  type ConfigurationError,
  cloneAction,
  countAction,
  datetime,
  entity,
  enums,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const calls: string[] = [];
const note = (what: string) => () => void calls.push(what);
const task = entity("task", { title: string.min(2), done: bool.default(false) })
  .rules(everybody)
  .actions({
    plain: action().handler(() => "plain"),
    got: action()
      .get()
      .handler(() => "got"),
    posted: action()
      .get()
      .post()
      .handler(() => "posted"),
    putted: action()
      .put()
      .handler(() => "putted"),
    patched: action()
      .patch()
      .handler(() => "patched"),
    removed: action()
      .delete()
      .handler(() => "removed"),
    free: action()
      .method("patch")
      .handler(() => "free"),
    pathed: action("ignored")
      .path("deeper/down")
      .handler(() => "pathed"),
    named: action("/call-me").handler(() => "named"),
    one: action()
      .onResource()
      .handler(({ params, record }) => [params.id, record.title]),
    // `:ident` only begins like `:id`.
    other: action()
      .onResource()
      .path("/:ident/other")
      .handler(({ params }) => params),
    given: action()
      .input({ title: string.min(2), n: int.default(3), at: datetime.optional(), kind: enums("a", "b").optional() })
      .handler(({ input }) => input),
    asked: action()
      .get()
      .query({ title: string.min(2), n: int.default(3), at: datetime.optional(), done: bool.optional() })
      .handler(({ query }) => query),
    // A declared input applies to every method.
    dropped: action()
      .delete()
      .input({ why: string })
      .handler(({ input }) => input),
    raw: action().handler(({ input }) => ({ input })),
    rawGet: action()
      .get()
      .handler(({ input, query }) => ({ input: input === undefined, query })),
    both: action()
      .query({ dry: bool.default(false) })
      .input({ why: string })
      .handler(({ query, input }) => ({ query, input })),
    silent: action().handler(note("silent")),
    exact: action()
      .output({ title: string, n: int.optional() })
      .handler(() => ({ title: "T", n: 1, extra: "left out" })),
    exactJson: action()
      .output({ title: string })
      .handler(({ json }) => json({ title: "T", extra: "left out" }, 202)),
    exactNot: action()
      .output({ title: string, n: int })
      .handler(() => ({ title: "T", n: "one" }) as never),
    exactNull: action()
      .output({ title: string })
      .handler(() => null as never),
    exactRedirect: action()
      .output({ title: string })
      .handler(({ redirect }) => redirect("/elsewhere") as never),
    exactResponse: action()
      .output({ title: string })
      .handler(() => new Response("as it is") as never),
    exactFails: action()
      .output({
        title: string.validate((value) => value !== "no", "must not be no"),
      })
      .handler(() => {
        throw new TypeError("inside");
      }),
  });
const logger = recordingLogger();
const app = createTestApp({
  entities: [task],
  driver: memoryDriver({ task: [{ id: "t1", title: "One", done: false }] }),
  logger,
});
afterAll(() => app.close());
const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  app.as(null).request(method, `/api/tasks${path}`, body, headers);

describe("a builder", () => {
  it("is frozen, and each of its methods returns a new one", () => {
    const first = action("x");
    const others = [
      first.get(),
      first.path("/y"),
      first.onResource(),
      first.rules("admin"),
      first.input({ a: string }),
    ];
    for (const other of others) expect(other).not.toBe(first);
    expect(first.definition).toMatchObject({ path: "/x" });
    expect(first.definition.method).toBeUndefined();
    expect(first.definition.rules).toBeUndefined();
    expect(Object.isFrozen(first)).toBe(true);
    expect(Object.isFrozen(first.definition)).toBe(true);
  });

  it.each([
    ["POST", "/plain", "plain"],
    ["GET", "/got", "got"],
    ["POST", "/posted", "posted"],
    ["PUT", "/putted", "putted"],
    ["PATCH", "/patched", "patched"],
    ["DELETE", "/removed", "removed"],
    ["PATCH", "/free", "free"],
    ["POST", "/deeper/down", "pathed"],
    ["POST", "/call-me", "named"],
  ])("defines the route: %s %s", async (method, path, body) => {
    expect(await send(method, path)).toMatchObject({ status: 200, body });
  });

  it("puts a record action under the record's id", async () => {
    expect((await send("POST", "/t1/one")).body).toEqual(["t1", "One"]);
    expect((await send("POST", "/t1/x/other")).body).toEqual({ id: "t1", ident: "x" });
  });

  it("responds with 204 without a result, and lists its method in HEAD and OPTIONS", async () => {
    expect(await send("POST", "/silent")).toMatchObject({ status: 204, body: "" });
    expect(calls).toEqual(["silent"]);
    expect(await send("HEAD", "/got")).toMatchObject({ status: 200, body: "" });
    expect((await send("OPTIONS", "/got")).headers.get("allow")).toContain("GET");
    expect((await send("DELETE", "/t1/one")).status).toBe(405);
  });
});

describe("input", () => {
  it("is validated, completed and typed", async () => {
    const { body } = await send("POST", "/given", { title: "Two", at: "2024-05-06T07:08:09Z", kind: "a" });
    expect(body).toEqual({ title: "Two", n: 3, at: "2024-05-06T07:08:09.000Z", kind: "a" });
  });

  it("errors name every problem, unknown names among them", async () => {
    const { status, body } = await send("POST", "/given", { n: "x", kind: "c", titel: "Two" });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: "VALIDATION_FAILED",
      errors: { title: "is required", titel: 'is not known here; did you mean "title"?' },
    });
    expect(Object.keys((body as { errors: object }).errors).sort()).toEqual(["kind", "n", "titel", "title"]);
  });

  it.each([[[1]], ["text"], [5], [null]])("that is %j is 400", async (body) => {
    expect((await send("POST", "/given", body)).status).toBe(400);
  });

  it("that is missing is an empty object", async () => {
    expect((await send("POST", "/given")).body).toMatchObject({ errors: { title: "is required" } });
    expect((await send("DELETE", "/dropped")).body).toMatchObject({ errors: { why: "is required" } });
    expect((await send("DELETE", "/dropped", { why: "old" })).body).toEqual({ why: "old" });
  });

  it("that is not JSON is 415 if it is declared, and ignored otherwise", async () => {
    const request = (path: string) =>
      app.api.fetch(new Request(`http://test.invalid/api/tasks${path}`, { method: "POST", body: "hello" }));
    expect((await request("/given")).status).toBe(415);
    expect(await (await request("/raw")).json()).toEqual({});
  });

  it("without a declaration is the parsed body", async () => {
    expect((await send("POST", "/raw", { any: [1, null] })).body).toEqual({ input: { any: [1, null] } });
    expect((await send("POST", "/raw")).body).toEqual({});
    const broken = new Request("http://test.invalid/api/tasks/raw", {
      method: "POST",
      body: "{",
      headers: { "content-type": "application/json" },
    });
    expect((await app.api.fetch(broken)).status).toBe(400);
  });
});

describe("query", () => {
  it("is parsed by the kinds of its fields, validated and completed", async () => {
    const { body } = await send("GET", "/asked?title=007&done=true&at=2024-05-06T07:08:09Z&_=1");
    expect(body).toEqual({ title: "007", n: 3, at: "2024-05-06T07:08:09.000Z", done: true });
  });

  it.each([
    ["", '"title" is required.'],
    ["?title=x", '"title" must be at least 2 characters.'],
    ["?title=xx&n=1.5", '"n" must be'],
    ["?title=xx&done=1", '"done" must be'],
    ["?title=xx&title=yy", '"title" is given more than once.'],
    ["?title=xx&nn=1", '"nn" is not known here; did you mean "n"?'],
  ])("that is %j is 400: %s", async (search, message) => {
    const { status, body } = await send("GET", `/asked${search}`);
    expect([status, (body as { code: string }).code]).toEqual([400, "BAD_REQUEST"]);
    expect((body as { message: string }).message).toContain(message);
  });

  it("without a declaration contains texts, and lists of texts", async () => {
    expect((await send("GET", "/rawGet?a=1&b=x&b=y")).body).toEqual({
      input: true,
      query: { a: "1", b: ["x", "y"] },
    });
    expect((await send("GET", "/rawGet")).body).toEqual({ input: true, query: {} });
  });

  it("and input can be combined", async () => {
    expect((await send("POST", "/both?dry=true", { why: "w" })).body).toEqual({
      query: { dry: true },
      input: { why: "w" },
    });
  });
});

describe("output", () => {
  it("contains only the declared fields", async () => {
    expect((await send("POST", "/exact")).body).toEqual({ title: "T", n: 1 });
    expect(await send("POST", "/exactJson")).toMatchObject({ status: 202, body: { title: "T" } });
  });

  it("that is invalid is the handler's error: 500, with the reason in the log only", async () => {
    for (const name of ["exactNot", "exactNull"]) {
      const { status, body } = await send("POST", `/${name}`);
      expect([status, (body as { code: string }).code]).toEqual([500, "INTERNAL"]);
      expect(JSON.stringify(body)).not.toContain("declares");
    }
    expect(logger.lines.join()).toContain("gives another output than it declares");
    expect((await send("POST", "/exactFails")).status).toBe(500);
  });

  it("does not apply to a Response or a missing result", async () => {
    const redirect = await send("POST", "/exactRedirect");
    expect([redirect.status, redirect.headers.get("location")]).toEqual([302, "/elsewhere"]);
    expect((await send("POST", "/exactResponse")).body).toBe("as it is");
  });
});

describe("timeout", () => {
  it("replaces the app's time limit, and aborts the action's signal at its end", async () => {
    const release = deferred<void>();
    const aborted = deferred<void>();
    const slow = entity("slow", { title: string })
      .rules(everybody)
      .actions({
        quick: action()
          .timeout(1)
          .handler(async ({ signal }) => {
            if (signal?.aborted === false) await once(signal, "abort");
            aborted.resolve();
          }),
        patient: action()
          .timeout(60_000)
          .handler(async () => {
            await release.promise;
            return "done";
          }),
      });
    // The app's own time limit would end any request at once.
    const timed = createTestApp({ entities: [slow], limits: { requestMs: 0 }, logger: noopLogger });
    await timed.api.ready;
    const patient = timed.as(null).request("POST", "/api/slows/patient");
    expect((await timed.as(null).request("POST", "/api/slows/quick")).status).toBe(503);
    await aborted.promise;
    release.resolve();
    expect(await patient).toMatchObject({ status: 200, body: "done" });
    await timed.close();
  });
});

describe("in-process calls", () => {
  const client = () => app.api.as({ id: "u1" }).task;

  it("return what HTTP returns, with datetimes as Date objects", async () => {
    expect(await client().plain()).toBe("plain");
    expect(await client().one("t1")).toEqual(["t1", "One"]);
    const at = new Date(5);
    expect(await client().given({ title: "Two", at })).toEqual({ title: "Two", n: 3, at, kind: null });
    expect(await client().asked({ title: "Two" })).toEqual({ title: "Two", n: 3, at: null, done: null });
    expect(await client().both({ dry: true, why: "w" })).toEqual({ query: { dry: true }, input: { why: "w" } });
    expect(await client().exactJson()).toEqual({ title: "T" });
    expect(await client().silent()).toBeUndefined();
  });

  it("refuse what HTTP refuses", async () => {
    const refused = async (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        (value) => value,
        (error: { status: number; errors?: object }) => [error.status, error.errors],
      );
    expect(await refused(client().given({ title: "T" }))).toMatchObject([400, { title: expect.any(String) }]);
    expect(await refused(client().given({ title: "Two", nn: 1 } as never))).toMatchObject([
      400,
      { nn: expect.any(String) },
    ]);
    expect(await refused(client().asked({ title: "Two", nn: 1 } as never))).toMatchObject([
      400,
      { nn: expect.any(String) },
    ]);
    expect(await refused(client().both({ why: "w", nn: 1 } as never))).toMatchObject([400, { nn: expect.any(String) }]);
    expect(await refused(client().one("t2"))).toMatchObject([404, undefined]);
    expect(await refused(client().one("x".repeat(129)))).toMatchObject([404, undefined]);
  });

  it("of record actions need an id, and say so", async () => {
    for (const id of [undefined, null, "", 5, {}, Symbol("t1")] as never[])
      await expect(client().one(id)).rejects.toMatchObject({ status: 400, message: "An id is needed" });
  });

  it("pass a name that both query and input declare to both", async () => {
    const twice = entity("twice", { title: string })
      .rules(everybody)
      .actions({
        go: action()
          .query({ lang: string })
          .input({ lang: string, title: string })
          .handler(({ query, input }) => ({ query, input })),
      });
    const api = keelson({ entities: [twice], driver: memoryDriver(), logger: noopLogger });
    expect(await api.as({ id: "u" }).twice.go({ lang: "en", title: "T" })).toEqual({
      query: { lang: "en" },
      input: { lang: "en", title: "T" },
    });
    await api.close();
  });
});

describe("when the app starts", () => {
  const problemsOf = (actions: Parameters<ReturnType<typeof entity>["actions"]>[0], internal = false) => {
    const built = entity("odd", { title: string })
      .rules(everybody)
      .actions(actions as never);
    try {
      keelson({ entities: [internal ? built.internal() : built], logger: noopLogger });
      return [];
    } catch (error) {
      return (error as ConfigurationError).problems;
    }
  };
  const handler = () => 1;

  it("reports invalid names, methods, paths, timeouts and values", () => {
    expect(
      problemsOf({
        list: action().handler(handler),
        update: action().handler(handler),
        // biome-ignore lint/suspicious/noThenProperty: the test shows that it is refused
        then: action().handler(handler),
        toJSON: action().handler(handler),
        __v_isRef: action().handler(handler),
        trace: action().method("TRACE").handler(handler),
        spaced: action("make it").handler(handler),
        late: action().timeout(0).handler(handler),
        never: { timeout: Number.NaN, handler },
        empty: {} as never,
        nil: null as never,
        text: "x" as never,
        made: (() => 5) as never,
        again: (() => () => action().handler(handler)) as never,
        thrown: (() => {
          throw new TypeError("inside");
        }) as never,
      }),
    ).toEqual([
      'action "list" of odd: every client has a method "list" already; choose another name',
      'action "update" of odd: every client has a method "update" already; choose another name',
      'action "then" of odd: a client cannot have a method "then"; choose another name',
      'action "toJSON" of odd: a client cannot have a method "toJSON"; choose another name',
      'action "__v_isRef" of odd: a client cannot have a method "__v_isRef"; choose another name',
      'action "trace" of odd: TRACE is not one of GET, POST, PUT, PATCH, DELETE',
      'action "late" of odd: its timeout must be a whole number, 1 or more',
      'action "never" of odd: its timeout must be a whole number, 1 or more',
      'action "empty" of odd: is neither an action nor an object with a handler',
      'action "nil" of odd: is neither an action nor an object with a handler',
      'action "text" of odd: is neither an action nor an object with a handler',
      'action "made" of odd: is neither an action nor an object with a handler',
      'action "again" of odd: is a function that gives no action',
      'action "thrown" of odd: is a function that gives no action',
      'route POST /odds/make it of plugin "actions": not a method and a path such as /things/:id, /files/:path+ or /things/:id:archive',
    ]);
  });

  it("reports what an action lacks, and options without effect", () => {
    expect(
      problemsOf({
        bare: action(),
        single: { rules: "admin", handler } as never,
        ruled: action()
          .rules(undefined as never)
          .handler(handler),
        related: action()
          .input({ x: belongsTo(() => task) as never })
          .handler(handler),
        valued: { output: { x: "string" }, handler } as never,
        asked: { query: null, handler } as never,
        fetched: action().get().input({ x: string }).handler(handler),
        count: action().handler(handler),
        typo: { rule: ["admin"], handler } as never,
        odd: { colour: "red", handler } as never,
        copy: cloneAction("title" as never),
      }),
    ).toEqual([
      'action "bare" of odd: it has no handler; .handler() says what it does',
      'action "single" of odd: its rules must be a list of rules',
      'action "ruled" of odd: its rules must be a list of rules',
      'action "related" of odd: "x" in its input is not a field such as string or int.min(1)',
      'action "valued" of odd: "x" in its output is not a field such as string or int.min(1)',
      'action "asked" of odd: its query must be an object of fields',
      'action "fetched" of odd: GET has no body, so it takes no input; use .query()',
      'action "count" of odd: every client has a method "count" already; choose another name',
      'action "typo" of odd: there is no "rule". Did you mean "rules"?',
      'action "odd" of odd: there is no "colour"',
      'action "copy" of odd: cloneAction takes a list of fields, as in cloneAction(["slug"])',
    ]);
  });

  it("reserves the name count for the prebuilt action", () => {
    expect(problemsOf({ count: countAction })).toEqual([]);
    expect(problemsOf({ count: countAction().path("/how-many").rules("admin") })).toEqual([]);
  });

  it("reports paths outside the entity, and paths with a second id", () => {
    expect(
      problemsOf({
        up: action().path("../x").handler(handler),
        here: action().path("/./x").handler(handler),
        twice: action().path("/x/:id").onResource().handler(handler),
        again: action().path("/:id/x/:id").handler(handler),
        same: action().path("/x/:a/:a").handler(handler),
        fine: action().path("/x/:id").handler(handler),
      }),
    ).toEqual([
      'action "up" of odd: its path /../x must not have the segments . and ..',
      'action "here" of odd: its path /./x must not have the segments . and ..',
      'action "twice" of odd: its path /:id/x/:id names :id twice; under .onResource() it comes first by itself',
      'action "again" of odd: its path /:id/x/:id names :id twice; under .onResource() it comes first by itself',
      'action "same" of odd: its path /x/:a/:a names :a twice',
    ]);
  });

  it("reports paths that other actions or the entity itself already have", () => {
    expect(
      problemsOf({
        a: action("same").handler(handler),
        b: action("same").handler(handler),
        c: action("/").get().handler(handler),
        d: { method: "GET", path: "/:id", handler },
        e: { method: "PUT", path: "/:other", handler },
      }).map((problem) => problem.replace(/ of plugin.*? (?=collides|not)/, " ")),
    ).toEqual([
      expect.stringContaining("route POST /odds/same"),
      expect.stringMatching(/^route GET \/odds/),
      expect.stringContaining("route GET /odds/:id"),
      expect.stringContaining("route PUT /odds/:other"),
    ]);
  });

  it("reports actions of entities that have no routes", () => {
    expect(problemsOf({ a: action().handler(handler) }, true)).toEqual([
      "odd is internal and has no routes, so it cannot have actions",
    ]);
  });
});
