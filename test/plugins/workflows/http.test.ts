import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  conflictError,
  createEntityStep,
  type Driver,
  type EntityLike,
  embedded,
  entity,
  keelson,
  type Logger,
  memoryDriver,
  noopLogger,
  type PluginList,
  type StepContext,
  step,
  string,
  unauthorizedError,
  updateEntityStep,
  workflow,
  workflows,
} from "../../../src/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";
import { request, startApp } from "../../support/http.ts";

// Actions that are workflows, over HTTP.

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const stock = entity("stock", { left: string }).rules({ read: ["everyone"] });
type Steps = Parameters<ReturnType<typeof action>["workflow"]>;
const orderWith = (...steps: Steps) =>
  entity("order", { item: string.min(2), secret: string.optional().omit() })
    .rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"] })
    .actions({
      place: action()
        .rules("authenticated")
        .input({ item: string, how: string.optional() })
        .workflow(...steps),
    });

/** Serves entities from a file; tokens are user ids. */
async function served(
  entities: readonly EntityLike[],
  logger: Logger = noopLogger,
  plugins?: (defaults: PluginList) => PluginList,
) {
  const { file, remove } = await freshSqliteFile();
  const api = keelson({
    entities,
    driver: embedded({ file }),
    logger,
    ...(plugins ? { plugins } : {}),
    getUser({ headers }) {
      const id = headers.get("authorization")?.slice("Bearer ".length);
      return id === undefined ? null : { id };
    },
  });
  const { url, close } = await startApp(api);
  cleanups.push(remove, close);
  const place = (body: object, headers: Record<string, string> = {}, token: string | undefined = "ann") =>
    request(url, "POST", "/api/orders/place", { body, headers, token });
  const get = (path: string, token?: string) => request(url, "GET", path, { token });
  return { url, place, get };
}

const create = createEntityStep("order", ({ input }: StepContext<{ item: string }>) => ({ item: input.item }));
const last = step("last", ({ input, results }: StepContext<{ how?: string | null }>) => {
  if (input.how === "conflict") throw conflictError("The shelf is empty");
  if (input.how === "odd") throw new TypeError("connection to 10.0.0.7 with hunter2 failed");
  return { of: (results["create-order"] as { id: string }).id };
});

describe("an action that is a workflow", () => {
  it("responds with its last step's result, masked like every response", async () => {
    const { place } = await served([orderWith([create, last])]);
    expect(await place({ item: "tea" })).toMatchObject({ status: 200, json: { of: expect.any(String) } });
    const shown = createEntityStep("order", ({ input }: StepContext<{ item: string }>) => ({
      item: input.item,
      secret: "s3cret",
    }));
    const { place: show } = await served([orderWith([shown])]);
    const { status, json } = await show({ item: "tea" });
    expect([status, json.item]).toEqual([200, "tea"]);
    expect(JSON.stringify(json)).not.toContain("s3cret");
    const { place: none } = await served([orderWith([create, step("nothing", () => {})])]);
    expect(await none({ item: "tea" })).toMatchObject({ status: 204, json: undefined });
  });

  it("checks the caller and the input before any step runs", async () => {
    const ran: string[] = [];
    const { place, url } = await served([orderWith([step("ran", () => void ran.push("ran"))])]);
    expect((await request(url, "POST", "/api/orders/place", { body: { item: "tea" } })).status).toBe(401);
    expect((await place({})).status).toBe(400);
    expect(ran).toEqual([]);
  });

  it("keeps the status of a Keelson error when everything was compensated", async () => {
    const { place, get } = await served([orderWith([create, last])]);
    expect(await place({ item: "tea", how: "conflict" })).toMatchObject({
      status: 409,
      json: { code: "CONFLICT", message: "The shelf is empty" },
    });
    expect((await get("/api/orders")).json).toEqual([]);
  });

  it("has the caller's rights: a forbidden step is 403, after compensation", async () => {
    const steal = updateEntityStep("stock", { id: "s" }, { left: "none" });
    const { place, get } = await served([stock, orderWith([create, steal])]);
    expect((await place({ item: "tea" })).status).toBe(403);
    expect((await get("/api/orders")).json).toEqual([]);
  });

  it("responds to other failures with WORKFLOW_FAILED, without details", async () => {
    const logger = recordingLogger();
    const { place, get } = await served([orderWith([create, last])], logger);
    const { status, json, headers } = await place({ item: "tea", how: "odd" });
    expect([status, json]).toEqual([
      500,
      {
        ...json,
        code: "WORKFLOW_FAILED",
        message: "The workflow failed",
        failedStep: "last",
        compensatedSteps: ["create-order"],
        runId: expect.any(String),
      },
    ]);
    expect(JSON.stringify([json, [...headers]])).not.toMatch(/hunter2|TypeError/);
    expect(logger.lines.join("\n")).toContain("WORKFLOW_FAILED");
    expect((await get("/api/orders")).json).toEqual([]);
    expect((await get(`/api/workflow-runs/${json.runId}`, "ann")).json).toMatchObject({
      name: "order.place",
      status: "compensated",
      failedStep: "last",
    });
  });

  it("responds with WORKFLOW_FAILED also for a Keelson error if a compensation failed", async () => {
    const stays = step(
      "stays",
      () => 1,
      () => Promise.reject(new TypeError("stays")),
      { compensationRetry: { attempts: 1 } },
    );
    const { place, get } = await served([orderWith([create, stays, last])]);
    const { status, json } = await place({ item: "tea", how: "conflict" });
    expect([status, json.code, json.failedStep, json.compensatedSteps]).toEqual([
      500,
      "WORKFLOW_FAILED",
      "last",
      ["create-order"],
    ]);
    const { json: report } = await get(`/api/workflow-runs/${json.runId}`, "ann");
    expect(report).toMatchObject({ status: "compensation_failed", error: { code: "CONFLICT" } });
  });

  it("gives its steps the input as declared, and path and query as data", async () => {
    const seen = step("seen", ({ input, data, user }) => ({ input, data, user: user?.id }));
    const note = entity("note", { text: string })
      .rules({ read: ["everyone"], create: ["everyone"], update: ["authenticated"] })
      .actions({
        touch: action().onResource().query({ dry: string.optional() }).input({ how: string }).workflow([seen]),
      });
    const { url } = await served([note]);
    const { id } = (await request(url, "POST", "/api/notes", { body: { text: "t" } })).json;
    const body = { how: "softly" };
    const path = `/api/notes/${id}/touch?dry=yes`;
    expect((await request(url, "POST", path, { body, token: "ann" })).json).toEqual({
      input: body,
      data: { params: { id }, query: { dry: "yes" } },
      user: "ann",
    });
    expect((await request(url, "POST", "/api/notes/none/touch", { body, token: "ann" })).status).toBe(404);
  });

  it("accepts a built workflow, a builder, plain objects, and options", async () => {
    const told: string[] = [];
    const onStart = (): void => void told.push("hook");
    const plain = { name: "plain", run: ({ input }: StepContext<{ item: string }>) => ({ got: input.item }) };
    const shapes: readonly Steps[] = [
      [[plain]],
      [workflow("w").addStep(plain).withHooks({ onStart }).build()],
      [workflow("w").addStep(plain).withHooks({ onStart })],
      [[plain], { hooks: { onStart }, timeout: 5_000 }],
    ];
    for (const shape of shapes) {
      const { place } = await served([orderWith(...shape)]);
      expect(await place({ item: "tea" })).toMatchObject({ status: 200, json: { got: "tea" } });
    }
    expect(told).toEqual(["hook", "hook", "hook"]);
  });

  it("continues when the client has disconnected", async () => {
    const begun = deferred<void>();
    const release = deferred<void>();
    const slow = step("slow", async () => {
      begun.resolve();
      await release.promise;
    });
    const { url, get } = await served([orderWith([slow, create])]);
    const gone = new AbortController();
    const headers = { authorization: "Bearer ann", "content-type": "application/json" };
    const body = JSON.stringify({ item: "tea" });
    const call = fetch(`${url}/api/orders/place`, { method: "POST", headers, body, signal: gone.signal });
    await begun.promise;
    gone.abort();
    await expect(call).rejects.toThrow();
    release.resolve();
    await expect.poll(async () => (await get("/api/orders")).json).toMatchObject([{ item: "tea" }]);
  });
});

describe("Prefer: respond-async", () => {
  const slowly = () => {
    const release = deferred<void>();
    return { release, steps: [step("wait", () => release.promise), create] };
  };

  it("gets an immediate response with the run's URL, which reports its end", async () => {
    const { release, steps } = slowly();
    const { place, get } = await served([orderWith(steps)]);
    const { status, json, headers } = await place({ item: "tea" }, { prefer: "wait=5, respond-async" });
    const location = `/api/workflow-runs/${json.runId}`;
    expect([status, json]).toEqual([202, { runId: json.runId, status: "running", location }]);
    expect([headers.get("location"), headers.get("preference-applied")]).toEqual([location, "respond-async"]);
    expect((await get(location, "ann")).json).toMatchObject({ id: json.runId, status: "running" });
    release.resolve();
    await expect.poll(async () => (await get(location, "ann")).json.status).toBe("completed");
    expect((await get(location, "ann")).json.result).toMatchObject({ item: "tea" });
    expect((await get(location, "bob")).status).toBe(404);
    expect((await get(location)).status).toBe(401);
  });

  it("is ignored when the run is not stored", async () => {
    const inMemory = (defaults: PluginList) => defaults.replace("workflows", workflows());
    const { place, get } = await served([orderWith([create])], noopLogger, inMemory);
    const { status, json, headers } = await place({ item: "tea" }, { prefer: "respond-async" });
    expect([status, json.item, headers.get("preference-applied")]).toEqual([200, "tea", null]);
    expect((await get("/api/workflow-runs/any", "ann")).status).toBe(404);
  });

  it("has no effect with other preferences", async () => {
    const { place } = await served([orderWith([create])]);
    for (const prefer of ["return=minimal", "respond-asynchronously", "x-respond-async"])
      expect((await place({ item: "tea" }, { prefer })).status).toBe(200);
  });
});

describe("an app whose actions are invalid workflows", () => {
  const boot =
    (entities: readonly EntityLike[], plugins?: (defaults: PluginList) => PluginList, driver?: Driver) => () =>
      keelson({ entities, driver: driver ?? memoryDriver(), logger: noopLogger, ...(plugins ? { plugins } : {}) });

  it("does not start, and gives the reason for each action", () => {
    const twice = [create, create];
    const order = entity("order", { item: string }).actions({
      none: action().workflow([]),
      twice: action().workflow(twice),
      odd: action().workflow([{ name: "odd" }]),
      brief: action().workflow([create], { timeout: -1 }),
    });
    for (const message of [
      'action "none" of order: Workflow "workflow" has no steps',
      'action "twice" of order: Workflow "workflow" has two steps called "create-order"',
      'action "odd" of order: Step "odd" needs a function that it executes',
      'action "brief" of order: Workflow "order.brief": timeout must be milliseconds',
    ])
      expect(boot([order])).toThrow(message);
  });

  it("does not start without the plugin that runs them", () => {
    const without = (defaults: PluginList): PluginList => defaults.without("workflows");
    expect(boot([orderWith([create])], without)).toThrow(
      'action "place" of order is a workflow, but no plugin in the list provides "workflows"',
    );
  });

  it("does not start if its journal would store encrypted fields in plaintext", () => {
    const open = (defaults: PluginList): PluginList => defaults.replace("workflows", workflows({ journal: true }));
    expect(boot([orderWith([create])], open)).not.toThrow();
    const patient = entity("patient", { ssn: string.encrypted() });
    expect(boot([patient, orderWith([create])], open)).toThrow("the journal has to be, too");
  });
});

it("an authentication error of a step is shown to the caller too", async () => {
  const { place } = await served([orderWith([step("who", () => Promise.reject(unauthorizedError("Who are you?")))])]);
  expect(await place({ item: "tea" })).toMatchObject({ status: 401, json: { message: "Who are you?" } });
});
