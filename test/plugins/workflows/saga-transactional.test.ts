import { beforeEach, describe, expect, it } from "vitest";
import {
  createEnhancedDriver,
  createEntityStep,
  type EnhancedDriver,
  entity,
  executeWorkflow,
  memoryDriver,
  type StepContext,
  step,
  string,
  updateEntityStep,
  workflow,
} from "../../../src/index.ts";

const note = entity("note", { text: string });
const at = { createdAt: new Date(0), updatedAt: new Date(0) };
let driver: EnhancedDriver;
beforeEach(async () => {
  driver = createEnhancedDriver(memoryDriver({ note: [{ id: "n", text: "as it was", ...at }] }), [note]);
  await driver.connect();
});
const texts = async () => (await driver.findMany(note)).map(({ text }) => text).sort();
const fails = step("fails", () => Promise.reject(new TypeError("boom")));

describe("a transactional() workflow in memory", () => {
  const base = () =>
    workflow("together")
      .transactional()
      .addStep(createEntityStep(note, { text: "entity step" }))
      .step("by hand", ({ driver: own }) => own.create(note, { id: "h", text: "by hand", ...at }), undefined, {
        transactional: true,
      });

  it("stores all its steps' writes, and steps see those of earlier steps", async () => {
    const result = await executeWorkflow(
      driver,
      base()
        .step("look", async ({ driver: own }) => (await own.findMany(note)).length)
        .build(),
    );
    expect(result).toMatchObject({ status: "completed", results: { look: 3 } });
    expect(await texts()).toEqual(["as it was", "by hand", "entity step"]);
  });

  it("is rolled back when a step fails, and compensates only outside effects", async () => {
    const seen: unknown[] = [];
    const built = base()
      .step(
        "mail",
        () => ({ sent: 1 }),
        async ({ driver: own }, result) => void seen.push(result, (await own.findMany(note)).length),
      )
      .step(
        "marked",
        () => 1,
        () => void seen.push("never"),
        { transactional: true },
      )
      .addStep(updateEntityStep(note, { id: "n" }, { text: "changed" }))
      .addStep(fails)
      .build();
    const result = await executeWorkflow(driver, built);
    expect(result).toMatchObject({
      status: "compensated",
      failedStep: "fails",
      error: { message: "boom" },
      compensatedSteps: ["mail"],
    });
    expect(result.results).toEqual({ mail: { sent: 1 } });
    expect(seen).toEqual([{ sent: 1 }, 1]);
    expect(await texts()).toEqual(["as it was"]);
  });

  it("has its initial data again after the rollback", async () => {
    const built = workflow("w")
      .transactional()
      .withData({ begun: 1 })
      .step("set", ({ set }) => set("left", 1))
      .addStep(fails)
      .build();
    expect((await executeWorkflow(driver, built)).data).toEqual({ begun: 1 });
  });

  it("retries a step within the transaction", async () => {
    const built = workflow("w")
      .transactional()
      .addStep(createEntityStep(note, { text: "new" }))
      .step(
        "flaky",
        ({ attempt }: StepContext) => {
          if (attempt === 1) throw new TypeError("once");
        },
        undefined,
        { retry: { attempts: 2, delay: 0 } },
      )
      .build();
    expect((await executeWorkflow(driver, built)).status).toBe("completed");
    expect(await texts()).toEqual(["as it was", "new"]);
  });

  it("compensates a step that timed out, which may have had an outside effect", async () => {
    const seen: unknown[] = [];
    const built = workflow("w")
      .transactional()
      .addStep(createEntityStep(note, { text: "new" }))
      .step(
        "slow",
        () => new Promise(() => {}),
        (_, result) => void seen.push("back", result),
        { timeout: 10 },
      )
      .build();
    expect(await executeWorkflow(driver, built)).toMatchObject({ status: "compensated", compensatedSteps: ["slow"] });
    expect(seen).toEqual(["back", undefined]);
    expect(await texts()).toEqual(["as it was"]);
  });
});

it("keeps writes of a workflow without transactional() until they are compensated", async () => {
  const result = await executeWorkflow(driver, [
    createEntityStep(note, { text: "new" }),
    step("by hand", ({ driver: own }) => own.create(note, { id: "h", text: "by hand", ...at })),
    fails,
  ]);
  expect(result.compensatedSteps).toEqual(["create-note"]);
  expect(await texts()).toEqual(["as it was", "by hand"]);
});
