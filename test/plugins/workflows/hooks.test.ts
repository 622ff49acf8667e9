import { describe, expect, it } from "vitest";
import { executeWorkflow, noopLogger, workflow } from "../../../src/index.ts";
import type { WorkflowHooks } from "../../../src/plugins/workflows/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";

const told: unknown[] = [];
const hooks: WorkflowHooks = {
  onStart: ({ input }) => void told.push(["start", input]),
  onStepComplete: (name, result, { results }) => void told.push(["complete", name, result, Object.keys(results)]),
  onStepFailed: (name, error, { data }) => void told.push(["failed", name, error.message, { ...data }]),
  onCompensate: (name, { results }) => void told.push(["compensate", name, results[name]]),
  onComplete: ({ status, results }) => void told.push(["all complete", status, results]),
  onFailed: ({ status, failedStep, compensatedSteps }) =>
    void told.push(["all failed", status, failedStep, compensatedSteps]),
};
const twoSteps = (given: WorkflowHooks, fails: boolean) =>
  workflow("w")
    .withHooks(given)
    .step(
      "one",
      ({ set }) => {
        set("left", 1);
        told.push("one runs");
        return 1;
      },
      () => void told.push("one back"),
    )
    .step("two", () => {
      if (fails) throw new TypeError("boom");
      return 2;
    })
    .build();

describe("hooks of a workflow", () => {
  it("are called for its start, for each step and for its end", async () => {
    await executeWorkflow(twoSteps(hooks, false), { input: "in" });
    expect(told.splice(0)).toEqual([
      ["start", "in"],
      "one runs",
      ["complete", "one", 1, ["one"]],
      ["complete", "two", 2, ["one", "two"]],
      ["all complete", "completed", { one: 1, two: 2 }],
    ]);
  });

  it("are called for the failed step, and for each compensation before it runs", async () => {
    await executeWorkflow(twoSteps(hooks, true));
    expect(told.splice(0)).toEqual([
      ["start", undefined],
      "one runs",
      ["complete", "one", 1, ["one"]],
      ["failed", "two", "boom", { left: 1 }],
      ["compensate", "one", 1],
      "one back",
      ["all failed", "compensated", "two", ["one"]],
    ]);
  });

  it("are awaited", async () => {
    const slow = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      told.push("hook");
    };
    await executeWorkflow(twoSteps({ onStart: slow, onComplete: slow }, false));
    expect(told.splice(0)).toEqual(["hook", "one runs", "hook"]);
  });

  it("are called once for a step that was retried", async () => {
    const built = workflow("w")
      .withHooks(hooks)
      .step("flaky", ({ attempt }) => (attempt < 3 ? Promise.reject(new TypeError("x")) : attempt), undefined, {
        retry: { attempts: 3, delay: 0 },
      })
      .build();
    await executeWorkflow(built);
    expect(told.splice(0).filter((one) => (one as string[])[1] === "flaky")).toEqual([
      ["complete", "flaky", 3, ["flaky"]],
    ]);
  });

  it("may be given in parts: later ones replace those of the same name", async () => {
    const built = workflow("w")
      .withHooks({ onStart: () => void told.push("replaced"), onComplete: () => void told.push("kept") })
      .withHooks({ onStart: () => void told.push("later") })
      .step("one", () => 1)
      .build();
    await executeWorkflow(built);
    expect(told.splice(0)).toEqual(["later", "kept"]);
  });

  it("change nothing when they throw or reject: that is logged", async () => {
    const throwing: WorkflowHooks = {
      onStart: () => {
        throw new TypeError("from a hook");
      },
      onStepComplete: () => Promise.reject(new TypeError("from a hook")),
      onStepFailed: () => Promise.reject("no error at all"),
      onCompensate: () => {
        throw new TypeError("from a hook");
      },
      onComplete: () => Promise.reject(new TypeError("from a hook")),
      onFailed: () => {
        throw new TypeError("from a hook");
      },
    };
    const log = recordingLogger();
    const done = await executeWorkflow(twoSteps(throwing, false), { log });
    expect(done).toMatchObject({ status: "completed", results: { one: 1, two: 2 } });
    expect(log.lines.filter((line) => line.includes("A hook of a workflow failed"))).toHaveLength(4);
    const failed = await executeWorkflow(twoSteps(throwing, true), { log: noopLogger });
    expect(failed).toMatchObject({ status: "compensated", compensatedSteps: ["one"], error: { message: "boom" } });
    expect(told.splice(0)).toEqual(["one runs", "one runs", "one back"]);
  });

  it("leave nothing in the data of the run", async () => {
    const meddling: WorkflowHooks = { onStepComplete: (_name, _result, { set }) => set("meddled", 1) };
    const { data, status } = await executeWorkflow(twoSteps(meddling, false));
    told.splice(0);
    expect({ data, status }).toEqual({ data: { left: 1 }, status: "completed" });
  });
});
