import { describe, expect, it } from "vitest";
import {
  conflictError,
  createEnhancedDriver,
  DatabaseUnavailableError,
  entity,
  executeWorkflow,
  memoryDriver,
  noopLogger,
  step,
  string,
  ValidationFailedError,
  workflow,
} from "../../../src/index.ts";
import type { StepOptions } from "../../../src/plugins/workflows/index.ts";
import { deferred } from "../../support/deferred.ts";

const note = entity("note", { text: string });
const at = { createdAt: new Date(0), updatedAt: new Date(0) };

/** Ends when the signal aborts. */
const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));

describe("a step that is retried", () => {
  const failing = async (error: unknown, options: StepOptions): Promise<number[]> => {
    const tries: number[] = [];
    const result = await executeWorkflow([
      step(
        "fails",
        ({ attempt }) => {
          tries.push(attempt);
          throw error;
        },
        undefined,
        options,
      ),
    ]);
    expect(result).toMatchObject({ status: "compensated", failedStep: "fails", error });
    return tries;
  };

  it("is tried as often as configured, and once by default", async () => {
    expect(await failing(new TypeError("x"), {})).toEqual([1]);
    expect(await failing(new TypeError("x"), { retry: {} })).toEqual([1]);
    expect(await failing(new TypeError("x"), { retry: { attempts: 4, delay: 0 } })).toEqual([1, 2, 3, 4]);
    expect(await failing(new TypeError("x"), { retry: { attempts: 3, delay: 1, backoff: 1 } })).toEqual([1, 2, 3]);
  });

  it("is not retried after a Keelson error for which the caller is responsible", async () => {
    const retry = { attempts: 3, delay: 0 };
    expect(await failing(new ValidationFailedError([]), { retry })).toEqual([1]);
    expect(await failing(conflictError("no"), { retry })).toEqual([1]);
    expect(await failing(new DatabaseUnavailableError("away"), { retry })).toEqual([1, 2, 3]);
    expect(await failing(Object.assign(new Error("not ours"), { status: 404 }), { retry })).toEqual([1, 2, 3]);
  });

  it("has the same idempotency key each time, and succeeds when one attempt does", async () => {
    const keys: string[] = [];
    const result = await executeWorkflow([
      step(
        "flaky",
        ({ attempt, idempotencyKey }) => {
          keys.push(idempotencyKey);
          if (attempt < 3) throw new TypeError("not yet");
          return attempt;
        },
        undefined,
        { retry: { attempts: 5, delay: 0 } },
      ),
    ]);
    expect(result).toMatchObject({ success: true, results: { flaky: 3 } });
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it("is not awaited when the run is aborted between two attempts", async () => {
    const given = new AbortController();
    let tries = 0;
    const result = await executeWorkflow(
      [
        step(
          "patient",
          () => {
            tries += 1;
            setImmediate(() => given.abort());
            throw new TypeError("later");
          },
          undefined,
          { retry: { attempts: 2, delay: 3_600_000 } },
        ),
      ],
      { signal: given.signal },
    );
    expect([tries, result.status, result.error?.message]).toEqual([1, "compensated", "later"]);
  });
});

describe("a step that takes too long", () => {
  it("gets an abort signal, fails, and is compensated without a result", async () => {
    const seen: unknown[] = [];
    const result = await executeWorkflow([
      step(
        "before",
        () => 1,
        (_, value) => void seen.push("before back", value),
      ),
      step(
        "slow",
        async ({ signal }) => {
          await untilAborted(signal);
          seen.push("aborted");
        },
        (_, value) => void seen.push("slow back", value),
        { timeout: 10 },
      ),
      step("after", () => void seen.push("after")),
    ]);
    expect(seen).toEqual(["aborted", "slow back", undefined, "before back", 1]);
    expect(result).toMatchObject({
      status: "compensated",
      failedStep: "slow",
      compensatedSteps: ["slow", "before"],
      error: { name: "StepTimeoutError", message: 'Step "slow" took longer than 10 ms' },
    });
  });

  it("is retried if allowed, and compensated once when each attempt timed out", async () => {
    const seen: unknown[] = [];
    const result = await executeWorkflow([
      step(
        "slow",
        ({ signal, attempt }) => {
          seen.push(attempt);
          return untilAborted(signal);
        },
        () => void seen.push("back"),
        { timeout: 5, retry: { attempts: 2, delay: 0 } },
      ),
    ]);
    expect(seen).toEqual([1, 2, "back"]);
    expect(result.compensatedSteps).toEqual(["slow"]);
  });

  it("has a compensation with the same limit for each of its attempts", async () => {
    const tries: number[] = [];
    const result = await executeWorkflow(
      [
        step(
          "s1",
          () => 1,
          ({ signal, attempt }) => {
            tries.push(attempt);
            return untilAborted(signal);
          },
          { timeout: 5, compensationRetry: { attempts: 2, delay: 0 } },
        ),
        step("s2", () => Promise.reject(new TypeError("x"))),
      ],
      { log: noopLogger },
    );
    expect(tries).toEqual([1, 2]);
    expect(result).toMatchObject({
      status: "compensation_failed",
      compensationErrors: [{ step: "s1", error: { message: 'The compensation of step "s1" took longer than 5 ms' } }],
    });
  });
});

describe("a zombie: a step that continues after its timeout", () => {
  const zombie = async (ending: "resolves" | "rejects") => {
    const driver = createEnhancedDriver(memoryDriver(), [note]);
    await driver.connect();
    const late = deferred<void>();
    const over = deferred<readonly string[]>();
    const built = workflow("w")
      .step("first", ({ set }) => set("kept", 1))
      .step(
        "late",
        async ({ driver: own, set }) => {
          await late.promise;
          const calls = [
            () => own.create("note", { id: "z", text: "zombie", ...at }),
            () => own.transaction((inner) => inner.create("note", { id: "z", text: "zombie", ...at })),
            () => set("late", 1),
          ];
          const came = await Promise.allSettled(calls.map(async (call) => call()));
          over.resolve(came.map(({ status }) => status));
          if (ending === "rejects") throw new TypeError("nobody hears this");
          return "too late";
        },
        undefined,
        { timeout: 10 },
      )
      .build();
    const result = await executeWorkflow(built, { driver });
    const before = structuredClone({ data: result.data, results: result.results, status: result.status });
    late.resolve();
    const refused = await over.promise;
    await new Promise((resolve) => setImmediate(resolve));
    return { before, result, refused, rows: await driver.findMany(note) };
  };

  it.each(["resolves", "rejects"] as const)("changes nothing, whether it %s", async (ending) => {
    const { before, result, refused, rows } = await zombie(ending);
    expect(refused).toEqual(["rejected", "rejected", "rejected"]);
    expect(rows).toEqual([]);
    expect(before).toEqual({ data: { kept: 1 }, results: { first: undefined }, status: "compensated" });
    expect({ data: result.data, results: result.results, status: result.status }).toEqual(before);
  });
});

describe("a workflow that takes too long", () => {
  it("aborts the running step, compensates the earlier ones, and starts no other", async () => {
    const seen: unknown[] = [];
    const built = workflow("brief")
      .step(
        "quick",
        () => 1,
        ({ signal }) => void seen.push("quick back", signal.aborted),
      )
      .step(
        "slow",
        ({ signal }) => untilAborted(signal),
        () => void seen.push("slow back"),
      )
      .step("never", () => void seen.push("never"))
      .withTimeout(20)
      .build();
    const result = await executeWorkflow(built);
    expect(seen).toEqual(["slow back", "quick back", false]);
    expect(result).toMatchObject({
      status: "compensated",
      failedStep: "slow",
      error: { name: "StepTimeoutError", message: 'Step "slow" was given up' },
    });
  });

  it("does not retry its step", async () => {
    const tries: number[] = [];
    const built = workflow("brief")
      .step(
        "slow",
        ({ signal, attempt }) => {
          tries.push(attempt);
          return untilAborted(signal);
        },
        undefined,
        { retry: { attempts: 3, delay: 0 } },
      )
      .withTimeout(10)
      .build();
    expect(await executeWorkflow(built)).toMatchObject({ status: "compensated", failedStep: "slow" });
    expect(tries).toEqual([1]);
  });
});

describe("a workflow that is aborted from outside", () => {
  it("starts nothing if it was aborted before its start", async () => {
    const seen: string[] = [];
    const result = await executeWorkflow([step("s", () => void seen.push("s"))], { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ status: "compensated", failedStep: "s", compensatedSteps: [] });
    expect(seen).toEqual([]);
  });

  it("compensates the finished steps, and the compensation is not aborted", async () => {
    const given = new AbortController();
    const seen: unknown[] = [];
    const result = await executeWorkflow(
      [
        step(
          "s1",
          () => 1,
          ({ signal }) => void seen.push("s1 back", signal.aborted),
        ),
        step("s2", () => given.abort()),
        step("s3", () => void seen.push("s3")),
      ],
      { signal: given.signal },
    );
    expect(seen).toEqual(["s1 back", false]);
    expect(result).toMatchObject({ status: "compensated", compensatedSteps: ["s1"] });
  });
});
