import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  createEntityStep,
  entity,
  runWorkflow,
  type StepContext,
  step,
  string,
  type User,
  type WorkflowDefinition,
  workflow,
} from "../../../src/index.ts";
import { deferred } from "../../support/deferred.ts";
import { SHARED_DATABASES, type SharedDatabase } from "../../support/workflows/order-databases.ts";
import { type WorkflowAppParts, workflowApp } from "../../support/workflows/workflow-app.ts";

const HOUR = 3_600_000;
const CANARY = "canary-9f3b";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Renew = StepContext<{ newPassword: string }>;
const note = entity("note", { text: string })
  .rules({ read: ["everyone"], create: ["admin"] })
  .actions({
    renew: action()
      .rules("everyone")
      .input({ newPassword: string.password(), text: string })
      .workflow([
        step("keep", ({ input, set }: Renew) => {
          set("pw", input.newPassword);
          set("list", [{ deep: input.newPassword }]);
          return { sent: input.newPassword, longer: input.newPassword.length };
        }),
        step("last", ({ get }) => typeof get("pw")),
      ]),
    ask: action()
      .rules("everyone")
      .query({ pin: string.password().optional() })
      .workflow([step("asked", () => 1)]),
    plain: action()
      .rules("everyone")
      .workflow([step("one", () => 1)]),
  });

describe.each(SHARED_DATABASES)("the journal on %s", (_, open) => {
  let database: SharedDatabase;
  beforeEach(async () => {
    database = await open();
    cleanups.push(database.drop);
  });

  async function started(known: readonly WorkflowDefinition[] = [], parts: Partial<WorkflowAppParts> = {}) {
    const limits = { requestMs: 200, hookMs: 200 };
    const journal = { recoveryMs: 20 };
    const given = { driver: database.driver(), entities: [note], workflows: known, limits, journal, ...parts };
    const app = await workflowApp(given);
    cleanups.push(app.close);
    return app;
  }
  const text = async () =>
    JSON.stringify([
      await database.query('SELECT * FROM "workflowRun"'),
      await database.query('SELECT * FROM "workflowStep"'),
    ]);

  it("contains no password of an action's input, under any name", async () => {
    const { as } = await started();
    const { status, body } = await as({ id: "ann" }).request("POST", "/api/notes/renew", {
      newPassword: CANARY,
      text: "plain",
    });
    expect([status, body]).toEqual([200, "string"]);
    const kept = await text();
    expect(kept).toContain("plain");
    expect(kept).not.toContain(CANARY);
  });

  it("contains no password of an action's query", async () => {
    const { as } = await started();
    const { status } = await as({ id: "ann" }).request("POST", `/api/notes/ask?pin=${CANARY}`);
    expect(status).toBe(200);
    expect(await text()).not.toContain(CANARY);
  });

  it("contains the caller's id and plain data, and nothing like a credential", async () => {
    const { as } = await started();
    class Org {
      readonly name = "of a class";
    }
    const user = {
      id: "ann",
      roles: ["editor"],
      level: 3,
      since: new Date(0),
      org: { id: "o", members: new Set(["x"]), apiKey: CANARY },
      made: new Org(),
      permissions: new Set(["write"]),
      can: () => true,
      accessToken: CANARY,
      refresh_token: CANARY,
      sessionId: CANARY,
      authorization: `Bearer ${CANARY}`,
    };
    expect((await as(user).request("POST", "/api/notes/plain")).status).toBe(200);
    const [run] = await database.query('SELECT "caller" FROM "workflowRun"');
    const { value } = JSON.parse(run?.caller as string);
    expect(value).toEqual({ id: "ann", roles: ["editor"], level: 3, since: { $date: 0 }, org: { id: "o" } });
  });

  /** A run that the first process leaves behind after its first step, started by an administrator. */
  async function leftBehind(undone: string[]): Promise<(begun?: () => void) => WorkflowDefinition> {
    const make = (begun?: () => void): WorkflowDefinition =>
      workflow("left")
        .step(
          "first",
          () => 1,
          () => void undone.push("first"),
        )
        .step(
          "second",
          async ({ user, signal }) => {
            if (begun === undefined) return { ...user };
            begun();
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
          },
          undefined,
          { idempotent: true },
        )
        .addStep(createEntityStep("note", { text: "by an administrator" }))
        .build();
    const here = deferred<void>();
    const first = make(here.resolve);
    const { api, close } = await started([first]);
    const user = { id: "root", role: "admin" };
    const lost = runWorkflow(first, { resolve: api.resolve, user, runId: "r" }).catch(() => {});
    await here.promise;
    await close();
    await lost;
    return make;
  }
  const heir = (known: readonly WorkflowDefinition[], userOf?: (id: string) => Promise<User | null>) =>
    started(known, { clock: { now: () => new Date(Date.now() + HOUR) }, userOf });
  const status = async () => (await database.query('SELECT "status" FROM "workflowRun"'))[0]?.status;

  it("provides the rights of a recovered run by default", async () => {
    const make = await leftBehind([]);
    await heir([make()]);
    await expect.poll(status).toBe("completed");
  });

  it("does not provide them if the app loads the current user", async () => {
    const asked: string[] = [];
    const undone: string[] = [];
    const make = await leftBehind(undone);
    await heir([make()], async (id) => {
      asked.push(id);
      return { id };
    });
    await expect.poll(status).toBe("compensated");
    expect([asked, undone]).toEqual([["root"], ["first"]]);
    expect(await database.query("SELECT * FROM note")).toEqual([]);
  });

  it.each([
    ["nobody", null],
    ["somebody else", { id: "ann", role: "admin" }],
  ])("has its run compensated when its user is %s now", async (__, found) => {
    const undone: string[] = [];
    const make = await leftBehind(undone);
    await heir([make()], async () => found);
    await expect.poll(status).toBe("compensated");
    expect(undone).toEqual(["first"]);
  });

  it("keeps a run for later if its user cannot be loaded", async () => {
    const make = await leftBehind([]);
    const refused = deferred<void>();
    await heir([make()], async () => {
      refused.resolve();
      throw new TypeError("the directory is away");
    });
    await refused.promise;
    expect(await status()).toBe("running");
  });
});
