import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  conflictError,
  createEnhancedDriver,
  createEntityStep,
  deleteEntityStep,
  entity,
  executeWorkflow,
  int,
  keelson,
  memoryDriver,
  step,
  string,
  updateEntityStep,
  WorkflowBuilder,
  type WorkflowResult,
  workflow,
  workflows,
} from "keelson";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RetryOptions } from "../../../src/plugins/workflows/index.ts";
import { openPage, type Page } from "../../support/page.ts";
import { repositoryRoot } from "../../support/source-files.ts";
import { membersOf } from "./members-of.ts";
import { columnOf, namesIn, tableBelow } from "./table-below.ts";

const folder = "src/plugins/workflows";
const once: RetryOptions = { attempts: 1 };
const fail = (): never => {
  throw new Error("no");
};

let page: Page;
beforeAll(() => {
  page = openPage("concepts/workflows");
});
afterAll(() => page.remove());

/** Names in the table that follows a text. */
function namesAfter(marker: string): string[] {
  const rest = page.text.slice(page.text.indexOf(marker));
  const rows = rest.split("\n").slice(2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end).flatMap((row) => namesIn(row.split("|")[1]));
}

describe("docs/concepts/workflows.md: the tables", () => {
  it("show how the two runs of the page end", async () => {
    const sail = await page.load<{ calm: WorkflowResult; storm: WorkflowResult; told: readonly string[] }>("sail.ts");
    const rows = tableBelow(page.text, "Workflows");
    const shown = [sail.calm, sail.storm].map(({ success, status, failedStep = "", compensatedSteps }) => [
      String(success),
      status,
      failedStep,
      compensatedSteps.join(", "),
    ]);
    expect(rows.map((row) => row.slice(1, 5))).toEqual(shown);
    expect(rows.map((row) => row[5]).join(", ")).toBe(sail.told.join(", "));
    expect(sail.calm.results.leave).toBe("under way");
  });

  it("list every status", () => {
    const text = readFileSync(join(repositoryRoot, folder, "definition/workflow.ts"), "utf8");
    const union = /type WorkflowStatus =([\s\S]*?");/.exec(text)?.[1] ?? "";
    const statuses = [...union.matchAll(/\| "(\w+)"/g)].map(([, name]) => name);
    expect(columnOf(page.text, "Statuses")).toEqual(statuses);
  });

  it("list all options, step members, builder methods, hooks and result members", () => {
    const sorted = (names: readonly string[]) => [...names].sort();
    expect(sorted(columnOf(page.text, "Steps"))).toEqual(
      sorted(membersOf(`${folder}/definition/step.ts`, "StepOptions")),
    );
    const context = membersOf(`${folder}/definition/step.ts`, "StepContext");
    expect(sorted(columnOf(page.text, "What a step is given"))).toEqual(sorted(context));
    const builder = Object.getOwnPropertyNames(WorkflowBuilder.prototype).filter((name) => name !== "constructor");
    expect(sorted(columnOf(page.text, "The builder"))).toEqual(sorted(builder));
    const hooks = membersOf(`${folder}/definition/workflow.ts`, "WorkflowHooks");
    expect(sorted(namesAfter("| hook | when |"))).toEqual(sorted(hooks));
    const result = membersOf(`${folder}/definition/workflow.ts`, "WorkflowResult");
    expect(sorted(columnOf(page.text, "How a run ends"))).toEqual(sorted(result));
    const options = membersOf(`${folder}/index.ts`, "WorkflowsOptions");
    expect(sorted(columnOf(page.text, "Options of the plugin"))).toEqual(sorted(options));
    expect(namesAfter("| steps of entities |")).toEqual(
      [createEntityStep, updateEntityStep, deleteEntityStep].map(({ name }) => name),
    );
    const journal = membersOf(`${folder}/engine/journal-engine.ts`, "JournalOptions");
    const row = tableBelow(page.text, "Options of the plugin").find(([name]) => name === "`journal`");
    for (const name of journal.filter((one) => one !== "reached")) expect(row?.[1]).toContain(name);
  });
});

describe("docs/concepts/workflows.md: compensation", () => {
  it("covers steps that completed or timed out, not those that threw", async () => {
    const back: unknown[] = [];
    const takeBack = (name: string) => (_: unknown, result: unknown) => void back.push([name, result]);
    const threw = await executeWorkflow([
      step("done", () => 1, takeBack("done")),
      step("plain", () => 2),
      step("threw", fail, takeBack("threw")),
      step("never", () => 3, takeBack("never")),
    ]);
    expect([back, threw.compensatedSteps]).toEqual([[["done", 1]], ["done"]]);
    back.length = 0;
    const late = step("late", () => new Promise<number>(() => {}), takeBack("late"), { timeout: 20 });
    const timedOut = await executeWorkflow([step("done", () => 1, takeBack("done")), late]);
    expect(timedOut).toMatchObject({ failedStep: "late", status: "compensated", compensatedSteps: ["late", "done"] });
    expect(back).toEqual([
      ["late", undefined],
      ["done", 1],
    ]);
  });

  it("tries all steps, and keeps their errors", async () => {
    const first = step(
      "first",
      () => 1,
      () => {},
    );
    const second = step("second", () => 2, fail, { compensationRetry: once });
    const result = await executeWorkflow([first, second, step("third", fail)]);
    expect(result).toMatchObject({ status: "compensation_failed", compensatedSteps: ["first"], failedStep: "third" });
    expect(result.compensationErrors).toMatchObject([{ step: "second", error: { message: "no" } }]);
  });

  it("follows retries: as configured, none after a 4xx, five for compensations", async () => {
    let tries = 0;
    const counting = (error: unknown) => () => {
      tries += 1;
      throw error;
    };
    const triesOf = async (error: unknown) => {
      tries = 0;
      await executeWorkflow([step("s", counting(error), undefined, { retry: { attempts: 3, delay: 1 } })]);
      return tries;
    };
    expect([await triesOf(new Error("no")), await triesOf(conflictError("no"))]).toEqual([3, 1]);
    tries = 0;
    const undo = { compensationRetry: { delay: 1 } };
    await executeWorkflow([step("s", () => 1, counting(conflictError("no")), undo), step("t", fail)]);
    expect(tries).toBe(5);
  });

  it("is a rollback in a transactional workflow, except for unmarked steps", async () => {
    const thing = entity("thing", { n: int }).timestamps(false);
    const driver = createEnhancedDriver(memoryDriver(), [thing]);
    await driver.connect();
    const back: string[] = [];
    const one = workflow("one")
      .step(
        "store",
        ({ driver: own }) => own.create(thing, { id: "a", n: 1 }),
        () => back.push("store"),
        {
          transactional: true,
        },
      )
      .step(
        "call",
        () => 1,
        () => back.push("call"),
      )
      .step("fail", fail)
      .transactional();
    expect(await executeWorkflow(one, { driver })).toMatchObject({ status: "compensated", compensatedSteps: ["call"] });
    expect([back, await driver.count(thing)]).toEqual([["call"], 0]);
  });

  it("leaves a record unchanged that a caller has changed since", async () => {
    const thing = entity("thing", { n: int });
    const driver = createEnhancedDriver(memoryDriver({ thing: [{ id: "a", n: 1 }] }), [thing]);
    await driver.connect();
    const end = (name: string, n?: number) =>
      step(name, async ({ driver: own }) => {
        if (n !== undefined) await own.update(thing, { id: "a" }, { n });
        fail();
      });
    const change = { ...updateEntityStep(thing, { id: "a" }, { n: 2 }), compensationRetry: once };
    expect(await executeWorkflow([change, end("fail")], { driver })).toMatchObject({ status: "compensated" });
    expect((await driver.findOne(thing, { id: "a" }))?.n).toBe(1);
    expect(await executeWorkflow([change, end("fail", 3)], { driver })).toMatchObject({
      status: "compensation_failed",
    });
    expect((await driver.findOne(thing, { id: "a" }))?.n).toBe(3);
  });
});

describe("docs/concepts/workflows.md: durability", () => {
  it("has a journal if an action is a workflow, or if the app asks for it", async () => {
    const note = entity("note", { text: string }).rules({ read: [] });
    const names = async (config: object) => {
      const app = keelson({ entities: [note], driver: memoryDriver(), ...config });
      const found = Object.keys(app.entities).filter((name) => name.startsWith("workflow"));
      const report = app.routes.some(({ path }) => path === "/api/workflow-runs/:id");
      await app.close();
      return [...found, report];
    };
    expect(await names({})).toEqual([false]);
    const journaled = workflows({ journal: true });
    const plugins = (defaults: { replace(id: string, plugin: unknown): unknown }) =>
      defaults.replace("workflows", journaled);
    expect(await names({ plugins })).toEqual(["workflowRun", "workflowStep", true]);
  });

  it("refuses workflows without steps, and two steps with one name", () => {
    expect(() => workflow("none").build()).toThrow(/no steps/);
    expect(() => workflow([step("a", () => 1), step("a", () => 2)])).toThrow(/two steps/);
  });
});
