import { beforeEach, describe, expect, it } from "vitest";
import { consoleLogger, executeWorkflow, type Step, step, workflow } from "../../../src/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";

// The events, in order.
let ledger: string[] = [];
beforeEach(() => {
  ledger = [];
});

/** A step that records its run and the arguments of its compensation. */
function noted(name: string, fails?: () => never): Step {
  return step(
    name,
    () => {
      ledger.push(name);
      fails?.();
      return { of: name };
    },
    (_, result) => void ledger.push(`${name} back with ${JSON.stringify(result)}`),
  );
}
const boom = (): never => {
  throw new TypeError("boom");
};
const log = () => recordingLogger();

describe("a workflow whose steps all succeed", () => {
  it("runs them in order, one at a time, and keeps the result of each", async () => {
    const slow = step("slow", async () => {
      ledger.push("slow begins");
      await new Promise((resolve) => setImmediate(resolve));
      ledger.push("slow ends");
      return 2;
    });
    const result = await executeWorkflow([noted("first"), slow, noted("last")]);
    expect(ledger).toEqual(["first", "slow begins", "slow ends", "last"]);
    expect(result).toEqual({
      success: true,
      data: {},
      results: { first: { of: "first" }, slow: 2, last: { of: "last" } },
      compensatedSteps: [],
      compensationErrors: [],
      status: "completed",
      duration: expect.any(Number),
      metadata: { id: expect.any(String), name: "workflow", startedAt: expect.any(Date) },
    });
    expect(result.duration).toBeGreaterThanOrEqual(0);
  });

  it("gives each step the results of those before it, and nothing of those after", async () => {
    const seen: unknown[] = [];
    const look = (name: string) => step(name, ({ results }) => seen.push({ ...results }));
    await executeWorkflow([look("a"), look("b"), look("c")]);
    expect(seen).toEqual([{}, { a: 1 }, { a: 1, b: 2 }]);
  });

  it("has another id each time, and one idempotency key per step and direction", async () => {
    const keys: string[][] = [];
    const keep = step(
      "keep",
      ({ runId, idempotencyKey, executionKey }) => void keys.push([runId, idempotencyKey, executionKey]),
      ({ runId, idempotencyKey, executionKey }) => void keys.push([runId, idempotencyKey, executionKey]),
    );
    const steps = [keep, noted("fails", boom)];
    const [first, second] = [await executeWorkflow(steps), await executeWorkflow(steps)];
    expect(first.metadata.id).not.toBe(second.metadata.id);
    const [executed, compensated] = keys as [string[], string[]];
    expect(executed[0]).toBe(first.metadata.id);
    expect(executed[1]).toBe(executed[2]);
    expect(compensated[2]).toBe(executed[1]);
    expect(new Set(keys.map(([, key]) => key)).size).toBe(4);
  });
});

describe("a workflow with a step that fails", () => {
  it("compensates the earlier steps in reverse order, each with its own result", async () => {
    const result = await executeWorkflow([noted("s1"), noted("s2"), noted("s3", boom), noted("s4")]);
    expect(ledger).toEqual(["s1", "s2", "s3", 's2 back with {"of":"s2"}', 's1 back with {"of":"s1"}']);
    expect(result).toMatchObject({
      success: false,
      status: "compensated",
      failedStep: "s3",
      compensatedSteps: ["s2", "s1"],
      compensationErrors: [],
      results: { s1: { of: "s1" }, s2: { of: "s2" } },
    });
    expect(result.error).toEqual(new TypeError("boom"));
    expect(result.results).not.toHaveProperty("s3");
  });

  it("has nothing to compensate when it is the first one", async () => {
    const result = await executeWorkflow([noted("s1", boom), noted("s2")]);
    expect(ledger).toEqual(["s1"]);
    expect(result).toMatchObject({ status: "compensated", failedStep: "s1", compensatedSteps: [], results: {} });
  });

  it("skips steps without a compensation", async () => {
    const result = await executeWorkflow([noted("s1"), step("mute", () => 1), noted("s3"), noted("s4", boom)]);
    expect(result.compensatedSteps).toEqual(["s3", "s1"]);
    expect(result.status).toBe("compensated");
  });

  it("behaves the same for a rejected promise, and for a thrown value", async () => {
    const rejects = await executeWorkflow([noted("s1"), step("s2", () => Promise.reject(new TypeError("late")))]);
    expect(rejects).toMatchObject({ failedStep: "s2", compensatedSteps: ["s1"], error: { message: "late" } });
    const odd = await executeWorkflow([step("s1", () => Promise.reject("just a text"))]);
    expect(odd.error).toBeInstanceOf(Error);
    expect(odd.error).toMatchObject({ code: "INTERNAL", cause: "just a text" });
  });

  it("gives a compensation the input, the data and the results so far", async () => {
    let seen: unknown;
    const first = step(
      "first",
      ({ set }) => {
        set("left", 7);
        return new Date(0);
      },
      ({ input, data, get, results, attempt, user }, result) => {
        seen = { input, data: { ...data }, left: get("left"), results: { ...results }, attempt, user, result };
      },
    );
    const second = step("second", () => 2n);
    const options = { input: { card: "4242" }, user: { id: "ann" } };
    const ended = await executeWorkflow([first, second, noted("third", boom)], options);
    const results = { first: new Date(0), second: 2n };
    expect(seen).toEqual({
      input: { card: "4242" },
      data: { left: 7 },
      left: 7,
      results,
      attempt: 1,
      user: { id: "ann" },
      result: new Date(0),
    });
    expect(ended.results).toEqual(results);
  });

  it("keeps results of any kind unchanged, since they are not serialised", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const call = (): void => {};
    const given = { big: 2n ** 70n, when: new Date(5), call, circle, missing: undefined };
    const { results } = await executeWorkflow([step("odd", () => given), step("nothing", () => {})]);
    expect(results.odd).toBe(given);
    expect(Object.entries(results)[1]).toEqual(["nothing", undefined]);
  });
});

describe("a compensation that fails", () => {
  const stubborn = (name: string, message = `${name} stays`): Step =>
    step(
      name,
      () => 1,
      () => {
        ledger.push(`${name} back`);
        throw new RangeError(message);
      },
      { compensationRetry: { attempts: 2, delay: 0 } },
    );

  it("does not stop the others, and every error is kept", async () => {
    const lines = log();
    const steps = [noted("s1"), stubborn("s2"), noted("s3"), stubborn("s4"), noted("s5", boom)];
    const result = await executeWorkflow(steps, { log: lines });
    expect(ledger.slice(3)).toEqual([
      "s4 back",
      "s4 back",
      's3 back with {"of":"s3"}',
      "s2 back",
      "s2 back",
      's1 back with {"of":"s1"}',
    ]);
    expect(result).toMatchObject({
      success: false,
      status: "compensation_failed",
      failedStep: "s5",
      compensatedSteps: ["s3", "s1"],
      error: new TypeError("boom"),
    });
    expect(result.compensationErrors).toEqual([
      { step: "s4", error: new RangeError("s4 stays") },
      { step: "s2", error: new RangeError("s2 stays") },
    ]);
    expect(lines.lines.filter((line) => line.includes("A compensation failed"))).toHaveLength(2);
  });

  it("is tried five times by default, and ends when one attempt succeeds", async () => {
    const tries = { patient: 0, lucky: 0 };
    const patient = step(
      "patient",
      () => 1,
      () => {
        tries.patient += 1;
        throw new RangeError("never");
      },
      { compensationRetry: { delay: 0 } },
    );
    const lucky = step(
      "lucky",
      () => 1,
      ({ attempt }) => {
        tries.lucky += 1;
        if (attempt < 3) throw new RangeError("not yet");
      },
      { compensationRetry: { delay: 0 } },
    );
    const result = await executeWorkflow([patient, lucky, noted("fails", boom)], { log: log() });
    expect(tries).toEqual({ patient: 5, lucky: 3 });
    expect(result).toMatchObject({ status: "compensation_failed", compensatedSteps: ["lucky"] });
    expect(result.compensationErrors.map(({ step: name }) => name)).toEqual(["patient"]);
  });

  it("is kept as an error also when it is not an Error", async () => {
    const odd = step(
      "odd",
      () => 1,
      () => Promise.reject("text"),
      { compensationRetry: { attempts: 1 } },
    );
    const { compensationErrors } = await executeWorkflow([odd, noted("fails", boom)], { log: log() });
    expect(compensationErrors).toMatchObject([{ step: "odd", error: { code: "INTERNAL", cause: "text" } }]);
  });
});

describe("the data of a run", () => {
  it("contains the workflow's initial data, the run's, and what steps set", async () => {
    const built = workflow("w")
      .withData({ a: 1, b: 1 })
      .withData({ b: 2 })
      .step("set", ({ get, set }) => set("sum", (get<number>("a") ?? 0) + (get<number>("b") ?? 0)))
      .step("read", ({ data, get }) => [data.sum, get("sum"), get("c"), get("nothing")])
      .build();
    const result = await executeWorkflow(built, { data: { c: 3 } });
    expect(result.results.read).toEqual([3, 3, 3, undefined]);
    expect(result.data).toEqual({ a: 1, b: 2, c: 3, sum: 3 });
    expect(built.data).toEqual({ a: 1, b: 2 });
  });

  it("belongs to its run alone, at any depth", async () => {
    const list: string[] = [];
    const built = workflow("w")
      .withData({ list })
      .step("push", ({ get }) => get<string[]>("list")?.push("x"))
      .build();
    expect((await executeWorkflow(built)).data).toEqual({ list: ["x"] });
    expect((await executeWorkflow(built)).data).toEqual({ list: ["x"] });
    expect(list).toEqual([]);
  });

  it("is kept only from steps that succeed, and from compensations", async () => {
    const result = await executeWorkflow([
      step(
        "first",
        ({ set }) => set("first", 1),
        ({ set }) => set("back", 1),
      ),
      step(
        "second",
        ({ set, attempt }) => {
          set(`try ${attempt}`, 1);
          if (attempt === 1) throw new TypeError("again");
        },
        undefined,
        { retry: { attempts: 2, delay: 0 } },
      ),
      step("third", ({ set }) => {
        set("third", 1);
        boom();
      }),
    ]);
    expect(result.data).toEqual({ first: 1, "try 2": 1, back: 1 });
  });
});

it("steps have the run's log, user and services, but not what only an app has", async () => {
  const given = { log: consoleLogger, user: { id: "ann" }, resolve: <T>(id: string) => `the ${id}` as T };
  const look = step("look", (context) => {
    const { log: theirs, user, scope, resolve, client } = context;
    expect(() => client("note")).toThrow("in an app only");
    return [theirs, user, scope, resolve("bank")];
  });
  expect((await executeWorkflow([look], given)).results.look).toEqual([
    consoleLogger,
    { id: "ann" },
    undefined,
    "the bank",
  ]);
  const alone = await executeWorkflow([step("user", ({ user }) => user)]);
  expect(alone.results.user).toBeNull();
  const service = await executeWorkflow([step("service", ({ resolve }) => resolve("bank"))]);
  expect(service.error).toMatchObject({
    code: "CONFIGURATION_ERROR",
    message: expect.stringContaining('"bank" not found'),
  });
  const driver = await executeWorkflow([step("driver", ({ driver: none }) => none.findMany("note"))]);
  expect(driver.error).toMatchObject({ message: expect.stringContaining("was given no driver") });
});
