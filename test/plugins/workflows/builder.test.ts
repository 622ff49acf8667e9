import { describe, expect, it } from "vitest";
import {
  ConfigurationError,
  createEnhancedDriver,
  createEntityStep,
  deleteEntityStep,
  entity,
  executeWorkflow,
  memoryDriver,
  type Step,
  step,
  string,
  updateEntityStep,
  WorkflowBuilder,
  withOptions,
  workflow,
} from "../../../src/index.ts";
import type { ExecuteOptions, StepLike, StepOptions, WorkflowLike } from "../../../src/plugins/workflows/index.ts";

const note = entity("note", { text: string });
const one = step("one", ({ input }) => input);
const wrong = <T>(value: unknown): T => value as T;

describe("a workflow", () => {
  it("runs in every form in which it can be written", async () => {
    const builder = workflow("named").addStep(one);
    const names = async (like: WorkflowLike, options?: ExecuteOptions) => {
      const { success, results, metadata } = await executeWorkflow(like, options);
      return [success, results.one, metadata.name];
    };
    expect(await names([one], { input: 1 })).toEqual([true, 1, "workflow"]);
    expect(await names(workflow([one]), { input: 1 })).toEqual([true, 1, "workflow"]);
    expect(await names(builder, { input: 1 })).toEqual([true, 1, "named"]);
    expect(await names(builder.build(), { input: 1 })).toEqual([true, 1, "named"]);
    expect(await names(new WorkflowBuilder("own").addStep(one), { input: 1 })).toEqual([true, 1, "own"]);
    expect(await names([one])).toEqual([true, undefined, "workflow"]);
  });

  it("runs with a driver as the first argument as well", async () => {
    const driver = createEnhancedDriver(memoryDriver({ note: [{ id: "n", text: "t" }] }), [note]);
    await driver.connect();
    const look = step("look", async ({ driver: own, input }) => [await own.count(note), input]);
    for (const like of [[look], workflow([look]), workflow("w").addStep(look)]) {
      expect((await executeWorkflow(driver, like)).results.look).toEqual([1, undefined]);
      expect((await executeWorkflow(driver, like, { input: 2 })).results.look).toEqual([1, 2]);
      expect((await executeWorkflow(like, { driver, input: 3 })).results.look).toEqual([1, 3]);
    }
  });

  it("accepts steps that are plain objects, with execute or run", async () => {
    const taken: unknown[] = [];
    const steps: StepLike[] = [
      { name: "runs", run: ({ input }: { input: number }) => input + 1, compensate: (_, result) => taken.push(result) },
      { name: "executes", execute: () => 5, compensate: (_, result) => taken.push(result) },
      { name: "tries", retry: { attempts: 2, delay: 0 }, run: ({ attempt }) => attempt === 1 && Promise.reject(1) },
    ];
    const fails = { name: "fails", run: () => Promise.reject(new TypeError("x")) };
    expect(await executeWorkflow(steps, { input: 1 })).toMatchObject({
      status: "completed",
      results: { runs: 2, executes: 5, tries: false },
    });
    const built = workflow("w");
    const result = await executeWorkflow(
      [...steps, fails].reduce((builder, made) => builder.addStep(made), built),
      { input: 1 },
    );
    expect([result.compensatedSteps, taken]).toEqual([
      ["executes", "runs"],
      [5, 2],
    ]);
  });

  it("keeps an object's own this, and its methods", async () => {
    class Mailer {
      readonly name = "mail";
      readonly sent: string[] = [];
      execute(): number {
        return this.sent.push("mail");
      }
      compensate(): void {
        this.sent.push("sorry");
      }
    }
    const mailer = new Mailer();
    const result = await executeWorkflow([mailer, step("fails", () => Promise.reject(new TypeError("x")))]);
    expect([result.status, mailer.sent]).toEqual(["compensated", ["mail", "sorry"]]);
  });
});

describe("a builder", () => {
  it("is immutable: each method returns a new one", () => {
    const base = workflow("w").addStep(one);
    base.step("two", () => 2);
    base
      .withData({ a: 1 })
      .transactional()
      .withTimeout(5)
      .withHooks({ onStart() {} });
    expect(base.build()).toEqual({
      name: "w",
      steps: [one],
      data: {},
      transactional: false,
      hooks: {},
    });
  });

  it("builds frozen data with the given settings", () => {
    const onStart = (): void => {};
    const built = workflow("w")
      .step("two", () => 2, undefined, { timeout: 7 })
      .withData({ a: 1 })
      .transactional()
      .withTimeout(5)
      .withHooks({ onStart })
      .build();
    expect(built).toMatchObject({ name: "w", data: { a: 1 }, transactional: true, timeout: 5, hooks: { onStart } });
    expect(built.steps).toMatchObject([{ name: "two", timeout: 7 }]);
    for (const part of [built, built.steps, built.steps[0], built.data]) expect(Object.isFrozen(part)).toBe(true);
  });

  it("builds the same workflow each time", () => {
    const builder = workflow("w").addStep(one);
    expect(builder.build()).toBe(builder.build());
  });
});

describe("an invalid workflow", () => {
  const refuses = (make: () => unknown, message: string): void => {
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  };

  it("is refused when it has no steps, or two with one name", async () => {
    refuses(() => workflow([]), 'Workflow "workflow" has no steps');
    refuses(() => workflow("empty").build(), 'Workflow "empty" has no steps');
    refuses(() => workflow("twice").addStep(one).addStep(one).build(), 'has two steps called "one"');
    await expect(executeWorkflow([])).rejects.toThrow(ConfigurationError);
    await expect(executeWorkflow([one, one])).rejects.toThrow('two steps called "one"');
  });

  it("is refused when it is not a workflow", async () => {
    for (const odd of [undefined, null, 5, "w", {}, { steps: 5 }])
      await expect(executeWorkflow(wrong<Step[]>(odd))).rejects.toThrow(ConfigurationError);
  });

  it("is refused when one of its steps is invalid", () => {
    refuses(() => step("", () => 1), "A step needs a name");
    refuses(() => step(wrong<string>(5), () => 1), "A step needs a name");
    refuses(() => step("s", wrong<() => 1>(undefined)), 'Step "s" needs a function');
    refuses(() => step("s", () => 1, wrong<() => 1>("undo")), 'Step "s": compensate must be a function');
    refuses(() => workflow([wrong<Step>({ name: "s" })]), 'Step "s" needs a function');
    refuses(() => workflow([wrong<Step>(() => 1)]), "A step needs a name");
    refuses(() => workflow([wrong<Step>(null)]), "A step needs a name");
  });

  it.each<[string, StepOptions, string]>([
    ["no tries", { retry: { attempts: 0 } }, "attempts must be a whole number from 1"],
    ["half a try", { retry: { attempts: 1.5 } }, "attempts must be a whole number from 1"],
    ["no tries of its compensation", { compensationRetry: { attempts: 0 } }, "attempts must be a whole number from 1"],
    ["a pause below 0", { retry: { delay: -1 } }, "delay and backoff must be numbers from 0"],
    ["a pause that is no number", { retry: { delay: Number.NaN } }, "delay and backoff must be numbers from 0"],
    ["a factor below 0", { compensationRetry: { backoff: -2 } }, "delay and backoff must be numbers from 0"],
    ["no time", { timeout: 0 }, "timeout must be milliseconds"],
    ["a time that is no number", { timeout: Number.NaN }, "timeout must be milliseconds"],
    ["a time that timers do not know", { timeout: Number.POSITIVE_INFINITY }, "timeout must be milliseconds"],
  ])("is refused when a step has %s", (_, options, message) => {
    refuses(() => step("s", () => 1, undefined, options), message);
    refuses(() => withOptions(one, options), message);
    refuses(() => workflow([{ name: "s", run: () => 1, ...options }]), message);
  });

  it("is refused when its timeout is missing or too long for a timer", () => {
    for (const milliseconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])
      refuses(
        () => workflow("w").addStep(one).withTimeout(milliseconds).build(),
        'Workflow "w": timeout must be milliseconds',
      );
  });

  it("is refused when its caller's single transaction has a system step", () => {
    const system = withOptions(one, { asSystem: true });
    refuses(() => workflow("w").transactional().addStep(system).build(), '"one" cannot be the system\'s');
    expect(workflow("w").addStep(system).build().steps[0]?.asSystem).toBe(true);
  });

  it("is refused when an entity step's name is not a string", () => {
    const name = wrong<string>(note);
    refuses(() => createEntityStep(name, note, {}), "The name of a step must be a text");
    refuses(() => updateEntityStep(name, note, {}, {}), "The name of a step must be a text");
    refuses(() => deleteEntityStep(name, note, {}), "The name of a step must be a text");
  });

  it("is refused when its data cannot be copied for each run", async () => {
    const odd = workflow("w")
      .addStep(one)
      .withData({ call() {} });
    await expect(executeWorkflow(odd)).rejects.toThrow(ConfigurationError);
    await expect(executeWorkflow([one], { data: { call() {} } })).rejects.toThrow("can be copied");
  });
});
