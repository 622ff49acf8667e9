import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  createEntityStep,
  embedded,
  entity,
  runWorkflow,
  type StepContext,
  step,
  string,
  workflow,
} from "../../../src/index.ts";
import type { WorkflowLike, WorkflowsOptions } from "../../../src/plugins/workflows/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";
import { workflowApp } from "../../support/workflows/workflow-app.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ann = { id: "ann" };
let handle: (context: Parameters<typeof runWorkflow>[1]) => unknown = () => undefined;
const note = entity("note", { text: string })
  .rules({ read: ["everyone"], create: ["authenticated"] })
  .actions({
    run: action()
      .rules("everyone")
      .input({ text: string })
      .handler((context) => handle(context)),
  });
const who = step("who", ({ user, scope }) => [user?.id ?? null, scope?.principal.kind]);

async function started(known: WorkflowsOptions["workflows"] = [], journal = false) {
  const { file, remove } = await freshSqliteFile();
  const app = await workflowApp({ driver: embedded({ file }), entities: [note], workflows: known as never, journal });
  cleanups.push(remove, app.close);
  return app;
}

describe("runWorkflow", () => {
  it("runs in the context of a handler, with its input and its caller's rights", async () => {
    const { as } = await started();
    const create = createEntityStep(note, ({ input }: StepContext) => ({ ...(input as object) }));
    handle = async (context) => {
      const { status, results, error } = await runWorkflow([who, create], context);
      return { status, who: results.who, code: error && (error as { code?: string }).code };
    };
    const call = (user: Parameters<typeof as>[0]) => as(user).request("POST", "/api/notes/run", { text: "t" });
    expect((await call(ann)).body).toEqual({ status: "completed", who: ["ann", "user"] });
    expect((await call(null)).body).toMatchObject({ status: "compensated", code: "UNAUTHENTICATED" });
  });

  it("runs a list of steps in a handler, whichever actions are workflows", async () => {
    const shop = entity("shop", { name: string }).actions({
      open: action().rules("everyone").workflow([who]),
      look: action()
        .rules("everyone")
        .handler(async (context) => (await runWorkflow(workflow([who]), context)).results),
    });
    const { file, remove } = await freshSqliteFile();
    const { as, close } = await workflowApp({ driver: embedded({ file }), entities: [shop] });
    cleanups.push(remove, close);
    const call = (path: string) => as(ann).request("POST", `/api/shops/${path}`, {});
    expect((await call("open")).status).toBe(200);
    expect(await call("look")).toMatchObject({ status: 200, body: { who: ["ann", "user"] } });
  });

  it("runs for a user, for an anonymous caller, and on request for the system", async () => {
    const { resolve } = (await started()).api;
    const run = async (options: object) => (await runWorkflow([who], { resolve, ...options })).results.who;
    expect(await run({ user: ann })).toEqual(["ann", "user"]);
    expect(await run({})).toEqual([null, "anonymous"]);
    expect(await run({ user: null })).toEqual([null, "anonymous"]);
    expect(await run({ asSystem: true })).toEqual([null, "system"]);
    expect(await run({ asSystem: true, user: ann })).toEqual([null, "system"]);
  });

  it("accepts every form of a workflow", async () => {
    const { resolve } = (await started()).api;
    const plain = { name: "plain", run: ({ input }: StepContext) => input };
    const shapes: readonly WorkflowLike[] = [
      [plain],
      workflow([plain]),
      workflow("w").addStep(plain),
      workflow("w").addStep(plain).build(),
    ];
    for (const shape of shapes) expect((await runWorkflow(shape, { resolve, input: 5 })).results).toEqual({ plain: 5 });
  });

  it("is executeWorkflow without an app", async () => {
    const result = await runWorkflow([who], { user: ann, data: { a: 1 } });
    expect(result).toMatchObject({ status: "completed", results: { who: ["ann", undefined] }, data: { a: 1 } });
  });

  it("gives steps the app: the caller's driver in a step, the system's in compensation", async () => {
    const seen: unknown[] = [];
    const { resolve } = (await started()).api;
    const made = step(
      "made",
      async ({ client }) => (await client(note).create({ text: "t" })).id,
      async ({ client, scope, user, driver }, id) => {
        seen.push(scope?.principal.kind, user?.id, (await driver.findOne("note", { id }))?.text);
        await client("note").delete(id);
      },
    );
    const missing = step("missing", ({ client }) => client("nothing"));
    const result = await runWorkflow([made, missing], { resolve, user: ann });
    expect(result).toMatchObject({ status: "compensated", failedStep: "missing", error: { status: 404 } });
    expect(seen).toEqual(["system", "ann", "t"]);
    const denied = await runWorkflow([made], { resolve });
    expect(denied.error).toMatchObject({ status: 401 });
    const service = await runWorkflow([step("s", ({ resolve: of }) => of("none"))], { resolve });
    expect(service.error?.message).toContain("not found");
  });

  it("is one run if an id is started twice at once, and belongs to one caller", async () => {
    const release = deferred<void>();
    let count = 0;
    const once = workflow("once")
      .step("count", async () => {
        count += 1;
        await release.promise;
        return count;
      })
      .build();
    const { resolve } = (await started()).api;
    const context = { resolve, user: ann, runId: "same" };
    const both = [runWorkflow(once, context), runWorkflow(once, context)];
    await expect(runWorkflow(once, { ...context, user: { id: "bob" } })).rejects.toMatchObject({ status: 409 });
    release.resolve();
    const [one, other] = await Promise.all(both);
    expect(one).toBe(other);
    expect([count, one?.metadata.id]).toEqual([1, "same"]);
  });

  it("with a journal runs the app's named workflows, and lists of steps in memory", async () => {
    const builder = workflow("known").addStep(who);
    const { resolve } = (await started([builder], true)).api;
    expect((await runWorkflow(builder, { resolve, user: ann })).status).toBe("completed");
    expect((await runWorkflow(builder.build(), { resolve, user: ann })).status).toBe("completed");
    for (const list of [[who], workflow([who])])
      expect((await runWorkflow(list, { resolve, user: ann })).results).toEqual({ who: ["ann", "user"] });
    for (const unknown of [workflow("unknown").addStep(who), workflow("known").addStep(who)])
      await expect(runWorkflow(unknown, { resolve, user: ann })).rejects.toMatchObject({
        code: "CONFIGURATION_ERROR",
        message: expect.stringContaining("name it in workflows({ workflows: [...] })"),
      });
  });

  it("waits for runs in memory before the app has stopped", async () => {
    const release = deferred<void>();
    const begun = deferred<void>();
    const slow = step("slow", async () => {
      begun.resolve();
      await release.promise;
      return "done";
    });
    const app = await started();
    const run = runWorkflow([slow], { resolve: app.api.resolve });
    await begun.promise;
    const closed = app.close();
    release.resolve();
    expect((await run).results).toEqual({ slow: "done" });
    await closed;
  });
});
