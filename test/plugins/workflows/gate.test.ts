import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  createEnhancedDriver,
  createEntityStep,
  type Driver,
  deleteEntityStep,
  embedded,
  entity,
  executeWorkflow,
  generateEncryptionKey,
  noopLogger,
  runWorkflow,
  type Step,
  step,
  string,
  updateEntityStep,
  verifyPassword,
  type WorkflowResult,
  withOptions,
} from "../../../src/index.ts";
import type { RunOptions } from "../../../src/plugins/workflows/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";

// Entity steps outside an action's own workflow: in a handler's context, with an app's `resolve`, and on a driver alone
// (docs/adr/0040-entity-steps-need-a-gate-or-a-driver-that-protects-fields.md).

let handle: (context: RunOptions & { readonly transaction: unknown }) => Promise<unknown> = async () => undefined;
const note = entity("note", { text: string.min(3), secret: string.encrypted().optional() })
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["admin"], delete: ["admin"] })
  .actions({
    run: action()
      .rules("everyone")
      .handler((context) => handle(context)),
  });
const login = entity("login", { name: string, password: string.password({ cost: 8 }) });
const plain = entity("plain", { text: string });
const closed = entity("closed", { text: string }).rules({});
const hidden = entity("hidden", { text: string.readable("admin") });

const file = await freshSqliteFile();
const app = createTestApp({
  entities: [note, login, plain, closed, hidden],
  driver: embedded({ file: file.file }),
  encryption: { key: generateEncryptionKey() },
  logger: noopLogger,
});
const { api } = app;
beforeAll(() => api.ready);
afterAll(async () => {
  await app.close();
  await file.remove();
});
beforeEach(async () => {
  for (const { id } of (await api.asSystem().note.list()).data) await api.asSystem().note.delete(id);
  await api.asSystem().note.create({ id: "n", text: "old" });
});

const create = createEntityStep("note", { text: "new" });
const texts = async () => (await api.asSystem().note.list({ sort: ["text"] })).data.map(({ text }) => text);
const outcome = ({ status, error }: WorkflowResult) => [status, (error as { code?: string } | undefined)?.code ?? null];
const ann = { id: "ann" };

/** The result of running steps with a handler's context. */
async function inHandler(user: { id: string } | null, run: (context: RunOptions) => Promise<WorkflowResult>) {
  handle = async (context) => outcome(await run(context));
  return (await app.as(user).request("POST", "/api/notes/run")).body;
}

describe.each<[string, (steps: readonly Step[], context: RunOptions) => Promise<WorkflowResult>]>([
  ["executeWorkflow(steps, ctx)", (steps, context) => executeWorkflow(steps, context)],
  ["executeWorkflow(ctx.driver, steps, ctx)", (steps, ctx) => executeWorkflow(ctx.driver as Driver, steps, ctx)],
  ["runWorkflow(steps, ctx)", (steps, context) => runWorkflow(steps, context)],
  ["runWorkflow(steps, { scope })", (steps, { scope }) => runWorkflow(steps, { scope })],
])("%s in a handler", (_, run) => {
  it("applies the caller's rules, and the entity's validation", async () => {
    expect(await inHandler(null, (context) => run([create], context))).toEqual(["compensated", "UNAUTHENTICATED"]);
    const change = updateEntityStep("note", { id: "n" }, { text: "changed" });
    expect(await inHandler(ann, (context) => run([change], context))).toEqual(["compensated", "FORBIDDEN"]);
    const remove = deleteEntityStep("note", { id: "n" });
    expect(await inHandler(ann, (context) => run([remove], context))).toEqual(["compensated", "FORBIDDEN"]);
    const short = createEntityStep("note", { text: "no" });
    expect(await inHandler(ann, (context) => run([short], context))).toEqual(["compensated", "VALIDATION_FAILED"]);
    expect(await texts()).toEqual(["old"]);
    expect(await inHandler(ann, (context) => run([create], context))).toEqual(["completed", null]);
    expect(await texts()).toEqual(["new", "old"]);
  });

  it("compensates with the system's rights, and grants them to a step on request", async () => {
    const change = withOptions(updateEntityStep("note", { id: "n" }, { text: "changed" }), { asSystem: true });
    const fails = step("fails", () => Promise.reject(new TypeError("boom")));
    expect(await inHandler(ann, (context) => run([change, create, fails], context))).toEqual(["compensated", null]);
    expect(await texts()).toEqual(["old"]);
    expect(await inHandler(ann, (context) => run([change], context))).toEqual(["completed", null]);
    expect(await texts()).toEqual(["changed"]);
  });
});

describe("in an app", () => {
  it("executeWorkflow joins the transaction of a handler's context", async () => {
    handle = async ({ transaction }) => {
      type Transaction = (work: (inner: RunOptions) => Promise<unknown>) => Promise<unknown>;
      await (transaction as Transaction)(async (inner) => {
        expect((await executeWorkflow([create], inner)).status).toBe("completed");
        throw new TypeError("rolled back");
      });
    };
    expect((await app.as(ann).request("POST", "/api/notes/run")).status).toBe(500);
    expect(await texts()).toEqual(["old"]);
  });

  it("executeWorkflow refuses a driver of another transaction, which would wait for it", async () => {
    handle = async (context) =>
      (context.driver as Driver)
        .transaction((tx) => executeWorkflow([create], { ...context, driver: tx }))
        .catch(String);
    const { body } = await app.as(ann).request("POST", "/api/notes/run");
    expect(body).toContain("leave `driver` out");
    expect(await texts()).toEqual(["old"]);
  });

  it("executeWorkflow runs as user, anonymous or system with the app's resolve", async () => {
    const { resolve, driver } = api;
    expect(outcome(await executeWorkflow([create], { resolve }))).toEqual(["compensated", "UNAUTHENTICATED"]);
    expect(outcome(await executeWorkflow([create], { resolve, driver }))).toEqual(["compensated", "UNAUTHENTICATED"]);
    expect(outcome(await executeWorkflow([create], { resolve, user: ann }))).toEqual(["completed", null]);
    const change = updateEntityStep("note", { id: "n" }, { text: "changed" });
    expect(outcome(await executeWorkflow([change], { resolve, user: ann }))).toEqual(["compensated", "FORBIDDEN"]);
    expect(outcome(await executeWorkflow([change], { resolve, asSystem: true }))).toEqual(["completed", null]);
  });
});

describe("on a driver alone", () => {
  const refused = ["compensated", "CONFIGURATION_ERROR"];
  it.each<[string, Step]>([
    ["a password", createEntityStep(login, { name: "Ann", password: "correct horse" })],
    ["rules and an encrypted field", createEntityStep(note, { text: "new", secret: "pin" })],
    ["an update past rules", updateEntityStep(note, { id: "n" }, { text: "changed" })],
    ["a deletion past rules", deleteEntityStep(note, { id: "n" })],
    ["rules that allow nothing", createEntityStep(closed, { text: "t" })],
    ["a field with rules", createEntityStep(hidden, { text: "t" })],
    ["an entity by its name only", createEntityStep("plain", { text: "t" })],
  ])("refuses %s, and says what to pass", async (_, refusedStep) => {
    const { driver } = api;
    for (const result of [
      await executeWorkflow([refusedStep], { driver }),
      await executeWorkflow(driver, [refusedStep]),
      await runWorkflow([refusedStep], { driver, user: ann }),
    ]) {
      expect(outcome(result)).toEqual(refused);
      expect(result.error?.message).toContain("{ resolve: api.resolve, user }");
    }
    expect(await driver.count("login")).toBe(0);
    expect(await texts()).toEqual(["old"]);
  });

  it("writes an entity without rules and protected fields", async () => {
    expect(outcome(await executeWorkflow(api.driver, [createEntityStep(plain, { text: "t" })]))[0]).toBe("completed");
    expect(await api.driver.count("plain")).toBe(1);
  });

  it("writes protected fields through a protecting driver, also in its transactions", async () => {
    const driver = createEnhancedDriver(api.driver, [login]);
    const made = createEntityStep("login", { name: "Ann", password: "correct horse" });
    await driver.transaction(async (inner) => expect((await executeWorkflow(inner, [made])).status).toBe("completed"));
    const stored = await api.driver.findOne("login", { name: "Ann" });
    expect(await verifyPassword("correct horse", stored?.password as string)).toBe(true);
  });
});
