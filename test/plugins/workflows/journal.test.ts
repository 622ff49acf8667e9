import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AuthorizationError,
  action,
  createEntityStep,
  entity,
  generateEncryptionKey,
  journalEngine,
  json,
  postgres,
  runWorkflow,
  type StepContext,
  step,
  string,
  updateEntityStep,
  type WorkflowDefinition,
  workflow,
} from "../../../src/index.ts";
import { deferred } from "../../support/deferred.ts";
import { gateTo } from "../../support/tcp-gate.ts";
import { openPostgres, SHARED_DATABASES, type SharedDatabase } from "../../support/workflows/order-databases.ts";
import { type WorkflowAppParts, workflowApp } from "../../support/workflows/workflow-app.ts";

const HOUR = 3_600_000;
const note = entity("note", { text: string }).rules({ read: ["everyone"], create: ["authenticated"] });
const ann = { id: "ann" };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function started(parts: WorkflowAppParts) {
  const app = await workflowApp(parts);
  cleanups.push(app.close);
  return app;
}

/** The contents of the journal, as text. */
async function journalText({ query }: SharedDatabase): Promise<string> {
  return JSON.stringify([await query('SELECT * FROM "workflowRun"'), await query('SELECT * FROM "workflowStep"')]);
}

it.each(["leaseMs", "recoveryMs", "concurrency", "maxRecoveries"])(
  "refuses an engine whose %s is not a positive integer",
  (name) => {
    for (const value of [0, -1, 1.5, Number.NaN])
      expect(() => journalEngine({ [name]: value })).toThrow(`${name} must be a whole number from 1`);
  },
);

describe.each(SHARED_DATABASES)("runs with a journal on %s", (_, open) => {
  let database: SharedDatabase;
  beforeEach(async () => {
    database = await open();
    cleanups.push(database.drop);
  });
  const app = (known: readonly WorkflowDefinition[], parts: Partial<WorkflowAppParts> = {}) =>
    started({ driver: database.driver(), entities: [note], workflows: known, ...parts });

  it("ignore changes by a step that continues after its timeout", async () => {
    const late = deferred<void>();
    const over = deferred<unknown[]>();
    const slow = workflow("slow")
      .step("first", ({ set }) => set("kept", 1))
      .step(
        "late",
        async ({ driver, scope, client, set, get }) => {
          const now = new Date();
          const row = { text: "zombie", createdAt: now, updatedAt: now };
          const begun = driver.transaction(async (inner) => {
            await inner.create("note", { id: "a", ...row });
            await late.promise;
          });
          const refused = await Promise.allSettled([begun]);
          await late.promise;
          const calls = [
            () => driver.create("note", { id: "b", ...row }),
            () => scope?.driver.create("note", { id: "c", ...row }),
            () => scope?.run({ kind: "create", entity: "note", data: { text: "zombie" } }),
            () => client(note).create({ text: "zombie" }),
            () => driver.transaction((inner) => inner.create("note", { id: "d", ...row })),
            () => set("late", get("kept")),
          ];
          for (const one of calls) refused.push(...(await Promise.allSettled([(async () => one())()])));
          over.resolve(refused.map(({ status }) => status));
          return "too late";
        },
        (_, result) => void (taken = [result]),
        { timeout: 300 },
      )
      .build();
    let taken: unknown[] = [];
    const { api } = await app([slow]);
    const result = await runWorkflow(slow, { resolve: api.resolve, asSystem: true, runId: "z" });
    expect(result).toMatchObject({ status: "compensated", failedStep: "late", compensatedSteps: ["late"] });
    const before = await journalText(database);
    late.resolve();
    expect(await over.promise).toEqual(Array.from({ length: 7 }, () => "rejected"));
    expect({ data: result.data, results: result.results, taken }).toEqual({
      data: { kept: 1 },
      results: { first: undefined },
      taken: [undefined],
    });
    expect(await database.query("SELECT * FROM note")).toEqual([]);
    expect(await journalText(database)).toBe(before);
  });

  it("compensate a step that failed, if one of its attempts may have had an effect", async () => {
    const taken: unknown[] = [];
    const tries = workflow("tries")
      .step(
        "try",
        async ({ attempt }) => {
          if (attempt === 1) await new Promise(() => {});
          throw new TypeError("the second try fails");
        },
        (_, result) => void taken.push(result),
        { timeout: 20, retry: { attempts: 2, delay: 1 } },
      )
      .build();
    const { api } = await app([tries]);
    const result = await runWorkflow(tries, { resolve: api.resolve, asSystem: true });
    expect(result).toMatchObject({ status: "compensated", compensatedSteps: ["try"], error: { name: "TypeError" } });
    expect(taken).toEqual([undefined]);
  });

  it("do not start a step without time left, and do not compensate it", async () => {
    const ran: string[] = [];
    const brief = workflow("brief")
      .step(
        "first",
        ({ signal }) => new Promise<void>((end) => signal.addEventListener("abort", () => end())),
        undefined,
        {
          idempotent: true,
        },
      )
      .step(
        "second",
        () => void ran.push("second"),
        () => void ran.push("second back"),
      )
      .withTimeout(100)
      .build();
    // An app whose clock is in another year: its runs have their full time.
    const clock = { now: () => new Date(Date.now() - 1_000 * HOUR) };
    const { api } = await app([brief], { clock });
    const result = await runWorkflow(brief, { resolve: api.resolve, asSystem: true });
    expect(result).toMatchObject({ status: "compensated", error: { name: "StepTimeoutError" } });
    expect(result.metadata.startedAt.getTime()).toBeLessThan(Date.now() - 999 * HOUR);
    expect(ran).toEqual([]);
  });

  it("keep the steps' results unchanged, also for the caller with the same id", async () => {
    const given = {
      moment: new Date(1_700_000_000_000),
      never: new Date(Number.NaN),
      big: -(2n ** 80n),
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, 0.1],
      holes: [1, undefined, null],
      missing: null,
      $date: "a name like ours",
      $$gone: { $gone: true },
      nested: JSON.parse('{"__proto__":{"x":1},"constructor":{"y":2}}'),
      text: 'a "quote" \u2028 and {"$gone":true}',
    };
    const calls: string[] = [];
    const keeps = workflow("keeps")
      .step("plain", () => {
        calls.push("plain");
        return given;
      })
      .step("json", () => ({
        url: new URL("https://example.test/a"),
        own: new (class {
          readonly x = 1;
        })(),
      }))
      .addStep(createEntityStep("note", { text: "kept" }))
      .build();
    const { api } = await app([keeps]);
    const context = { resolve: api.resolve, asSystem: true, runId: "keeps" };
    const first = await runWorkflow(keeps, context);
    expect(first.status).toBe("completed");
    const again = await runWorkflow(keeps, context);
    expect(again.results.plain).toEqual(given);
    expect(again.results.json).toEqual({ url: "https://example.test/a", own: { x: 1 } });
    expect(again.results["create-note"]).toEqual(first.results["create-note"]);
    expect({ ...again, results: {}, duration: 0 }).toEqual({ ...first, results: {}, duration: 0 });
    expect(calls).toEqual(["plain"]);
  });

  it("compensate a step whose result cannot be stored, with a clear error", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const throwing = {
      get bad(): never {
        throw new TypeError("a getter");
      },
    };
    const values: readonly (readonly [string, unknown])[] = [
      ["a function", { call: () => {} }],
      ["a symbol", Symbol("s")],
      ["a Map", new Map()],
      ["an error", { error: new Error("secret") }],
      ["bytes", new Uint8Array(2)],
      ["a circle", circle],
      ["a getter", throwing],
    ];
    const taken: unknown[] = [];
    const odd = values.map(([what, value]) =>
      workflow(what)
        .step(
          "first",
          () => 1,
          (_, result) => void taken.push(result),
        )
        .step(
          "odd",
          () => value,
          (_, result) => void taken.push(what, result),
        )
        .build(),
    );
    const { api } = await app(odd);
    for (const one of odd) {
      const result = await runWorkflow(one, { resolve: api.resolve, asSystem: true });
      expect(result).toMatchObject({ status: "compensated", failedStep: "odd", error: { code: "INTERNAL" } });
      expect(taken.splice(0)).toEqual([one.name, undefined, 1]); // the last one first
    }
    expect(await journalText(database)).not.toContain("secret");
  });

  it("accept any result of compensations, because it is not stored", async () => {
    let count = 0;
    const back = workflow("back")
      .step(
        "first",
        () => 1,
        () => {
          count += 1;
          return new Map();
        },
      )
      .step("fails", () => {
        throw new AuthorizationError("no");
      })
      .build();
    const { api } = await app([back]);
    const result = await runWorkflow(back, { resolve: api.resolve, asSystem: true });
    expect({ status: result.status, count }).toEqual({ status: "compensated", count: 1 });
  });

  it("are one run if an id is started twice, here and in another process", async () => {
    const release = deferred<void>();
    const begun = deferred<void>();
    let count = 0;
    const once = (): WorkflowDefinition =>
      workflow("once")
        .step("count", async () => {
          count += 1;
          begun.resolve();
          await release.promise;
          return count;
        })
        .build();
    const [own, theirs] = [once(), once()];
    const [here, there] = [await app([own]), await app([theirs], { journal: { recoveryMs: 20 } })];
    const context = { resolve: here.api.resolve, user: ann, runId: "same" };
    const runs = [runWorkflow(own, context), runWorkflow(own, context), runWorkflow(own, context)];
    await begun.promise;
    const elsewhere = runWorkflow(theirs, { ...context, resolve: there.api.resolve });
    const refused = expect(runWorkflow(own, { ...context, user: { id: "bob" } })).rejects;
    await refused.toMatchObject({ status: 409 });
    await expect(
      runWorkflow(theirs, { ...context, resolve: there.api.resolve, user: { id: "bob" } }),
    ).rejects.toMatchObject({ status: 409, message: expect.stringContaining('A run "same" exists already') });
    release.resolve();
    const ended = await Promise.all([...runs, elsewhere]);
    expect(ended.map(({ status, results }) => [status, results.count])).toEqual(ended.map(() => ["completed", 1]));
    expect(count).toBe(1);
  });

  it("store no password, from any source", async () => {
    const secret = "correct-horse-battery-staple";
    const user = entity("user", { name: string, password: string.password() });
    const signup = workflow("signup")
      .step("see", ({ input, set }) => {
        set("login", input);
        return { nested: [{ password: secret }], seen: (input as { password: string }).password.length };
      })
      .addStep(createEntityStep(user, ({ input }: StepContext) => ({ ...(input as object) })))
      .step("fails", () => {
        throw new AuthorizationError("not today");
      })
      .build();
    const { api } = await app([signup], { entities: [user] });
    const input = { name: "ann", password: secret };
    const context = { resolve: api.resolve, asSystem: true, input, user: { id: "u", password: secret } };
    const result = await runWorkflow(signup, context);
    expect(result).toMatchObject({ status: "compensated", results: { see: { seen: secret.length } } });
    const text = await journalText(database);
    expect(text).not.toContain(secret);
    expect(text).not.toContain("$pbkdf2");
    expect(text).toContain("seen");
  });

  it("store nothing in plaintext if fields are encrypted, or the app does not start", async () => {
    const canary = "canary-7f3a";
    const patient = entity("patient", { name: string, ssn: string.encrypted() });
    const encryption = { key: generateEncryptionKey() };
    const admit = workflow("admit")
      .step("see", ({ input, set }) => {
        set("of", canary);
        return { input };
      })
      .addStep(createEntityStep(patient, { name: "ann", ssn: canary }))
      .addStep(
        updateEntityStep("move", patient, ({ results }: StepContext) => ({ id: idOf(results) }), {
          ssn: `${canary}-2`,
        }),
      )
      .step("fails", () => {
        throw new AuthorizationError(`not with ${canary}`);
      })
      .build();
    const idOf = (results: Readonly<Record<string, unknown>>): unknown =>
      (results["create-patient"] as { id: string }).id;
    const parts = { entities: [patient], encryption };
    await expect(app([admit], parts)).rejects.toThrow("the journal has to be, too");
    const { api } = await app([admit], { ...parts, encrypted: true });
    const context = { resolve: api.resolve, asSystem: true, input: { note: canary }, runId: "admit" };
    const result = await runWorkflow(admit, context);
    expect(result).toMatchObject({ status: "compensated", compensatedSteps: ["move", "create-patient"] });
    expect((await runWorkflow(admit, context)).results).toEqual(result.results);
    expect(await journalText(database)).not.toContain(canary);
  });

  it("are shown to their caller and to administrators only", async () => {
    const release = deferred<void>();
    const doc = entity("doc", { title: string, secret: string.omit(), meta: json.optional() })
      .rules({ read: ["everyone"], create: ["authenticated"] })
      .actions({
        publish: action()
          .rules("authenticated")
          .input({ title: string })
          .workflow([
            step("wait", () => release.promise),
            createEntityStep("doc", ({ input }: StepContext) => ({ ...(input as object), secret: "hidden-1" })),
          ]),
        refuse: action()
          .rules("authenticated")
          .workflow([
            step("no", () => {
              throw new AuthorizationError("not you");
            }),
          ]),
      });
    const { as } = await app([], { entities: [doc] });
    const accepted = await as(ann).request("POST", "/api/docs/publish", { title: "one" }, { prefer: "respond-async" });
    expect(accepted).toMatchObject({ status: 202, body: { runId: expect.any(String), status: "running" } });
    const at = accepted.headers.get("location") as string;
    expect(accepted.headers.get("preference-applied")).toBe("respond-async");
    const seen = async (who: Parameters<typeof as>[0]) => as(who).request("GET", at);
    expect(await seen(ann)).toMatchObject({ status: 200, body: { name: "doc.publish" } });
    release.resolve();
    await expect
      .poll(async () => (await seen(ann)).body)
      .toMatchObject({
        status: "completed",
        result: { title: "one" },
      });
    expect(await seen({ id: "root", role: "admin" })).toMatchObject({ status: 200 });
    expect(JSON.stringify((await seen(ann)).body)).not.toMatch(/hidden-1|userId|ann/);
    expect((await seen({ id: "bob" })).status).toBe(404);
    expect((await seen(null)).status).toBe(401);
    expect((await as(ann).request("GET", "/api/workflow-runs/none")).status).toBe(404);
    const refused = await as(ann).request("POST", "/api/docs/refuse", undefined, { prefer: "respond-async" });
    await expect
      .poll(async () => (await as(ann).request("GET", refused.headers.get("location") as string)).body)
      .toMatchObject({
        status: "compensated",
        failedStep: "no",
        error: { code: "FORBIDDEN", message: "not you" },
      });
  });

  it("commit as a whole with transactional(), and compensate outside effects", async () => {
    const taken: unknown[] = [];
    const together = (fails: boolean): WorkflowDefinition =>
      workflow(fails ? "fails" : "works")
        .transactional()
        .addStep(createEntityStep("first", note, { text: "first" }))
        .step(
          "outside",
          () => ({ sent: 1 }),
          (_, result) => void taken.push(result),
        )
        .addStep(createEntityStep("second", note, { text: "second" }))
        .step("end", () => {
          if (fails) throw new AuthorizationError("no");
        })
        .build();
    const [works, fails] = [together(false), together(true)];
    const { api } = await app([works, fails]);
    const result = await runWorkflow(fails, { resolve: api.resolve, asSystem: true, runId: "fails" });
    expect(result).toMatchObject({ status: "compensated", failedStep: "end", compensatedSteps: ["outside"] });
    expect(taken).toEqual([{ sent: 1 }]);
    expect(await database.query("SELECT * FROM note")).toEqual([]);
    const again = await runWorkflow(fails, { resolve: api.resolve, asSystem: true, runId: "fails" });
    expect(again.results).toEqual(result.results);
    expect(await runWorkflow(works, { resolve: api.resolve, asSystem: true })).toMatchObject({ status: "completed" });
    expect(await database.query("SELECT text FROM note ORDER BY text")).toEqual([
      { text: "first" },
      { text: "second" },
    ]);
  });
});

describe("an unavailable database", () => {
  const ran: string[] = [];
  let shut: () => Promise<void> = async () => {};
  const doc = entity("doc", { title: string })
    .rules({ read: ["everyone"] })
    .actions({
      publish: action()
        .rules("authenticated")
        .workflow([
          step(
            "first",
            async () => {
              ran.push("first");
              await shut();
            },
            () => void ran.push("first back"),
          ),
          step("second", () => void ran.push("second")),
        ]),
    });

  it("allows no step that it has not recorded, and the caller is told to retry", async () => {
    const database = await openPostgres();
    cleanups.push(database.drop);
    const gate = await gateTo(database.address);
    await gate.open();
    shut = gate.close;
    const limits = { requestMs: 5_000, hookMs: 200 };
    const app = await workflowApp({ driver: postgres(gate.url), entities: [doc], limits });
    cleanups.push(app.close);
    cleanups.push(gate.close);
    const answer = await app.as(ann).request("POST", "/api/docs/publish");
    expect(answer).toMatchObject({ status: 503, body: { status: 503 } });
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(ran.splice(0)).toEqual(["first"]);
    const refused = await app.as(ann).request("POST", "/api/docs/publish");
    expect(refused).toMatchObject({ status: 503, body: { code: "DATABASE_UNAVAILABLE" } });
    expect(ran).toEqual([]);
    expect(await database.query('SELECT status FROM "workflowRun"')).toEqual([{ status: "running" }]);
    await gate.open();
  });
});

describe("a transactional() workflow whose process dies", () => {
  it("has stored nothing, and compensates possible outside effects", async () => {
    const database = await openPostgres();
    cleanups.push(database.drop);
    const inside = deferred<void>();
    const ended = deferred<unknown>();
    const taken: unknown[] = [];
    const together = (hangs: boolean): WorkflowDefinition =>
      workflow("together")
        .transactional()
        .addStep(createEntityStep(note, { text: "never" }))
        .step(
          "outside",
          () => void taken.push("outside"),
          (_, result) => void taken.push("back", result),
        )
        .step(
          "end",
          async ({ signal }) => {
            if (!hangs) return;
            inside.resolve();
            await new Promise((end) => signal.addEventListener("abort", end));
          },
          undefined,
          { transactional: true },
        )
        .withHooks({ onFailed: (result) => ended.resolve(result) })
        .build();
    const dying = together(true);
    const limits = { requestMs: 50, hookMs: 2_000 };
    const parts = { driver: postgres(database.address), entities: [note], limits };
    const first = await workflowApp({ ...parts, workflows: [dying] });
    const run = runWorkflow(dying, { resolve: first.api.resolve, asSystem: true });
    run.catch(() => {});
    await inside.promise;
    await first.close();
    await started({
      ...parts,
      driver: postgres(database.address),
      workflows: [together(false)],
      clock: { now: () => new Date(Date.now() + HOUR) },
    });
    expect(await ended.promise).toMatchObject({ status: "compensated", failedStep: "outside" });
    expect(taken).toEqual(["outside", "back", undefined]);
    expect(await database.query("SELECT * FROM note")).toEqual([]);
  });
});
