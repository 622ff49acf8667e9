import { describe, expect, it } from "vitest";
import {
  action,
  type ConfigurationError,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  step,
  string,
  workflow,
  workflows,
} from "../../../src/index.ts";
import { createFakeKernel } from "../../../src/testing/index.ts";

const one = step("one", () => 1);
const order = entity("order", { item: string }).actions({ place: action().workflow([one]) });
const boot = () => createFakeKernel().withDriver(memoryDriver()).withEntities(order);

describe("the plugin by itself", () => {
  it("declares two services, and without a journal nothing else", async () => {
    const kernel = await boot().use(workflows());
    expect(kernel.seen).toEqual({
      services: ["workflows.engine", "workflows.runner"],
      hooks: [],
      routes: [],
      requires: [],
      provides: [],
      problems: [],
    });
    await kernel.close();
  });

  it("has internal entities for its journal without routes, and routes of runs", async () => {
    const { id, schema } = workflows({ journal: true });
    expect([id, workflows().schema]).toEqual(["workflows", undefined]);
    expect(schema).toBeDefined();
    const api = keelson({ entities: [order], driver: memoryDriver(), logger: noopLogger });
    await api.ready;
    const get = (path: string) => api.fetch(new Request(`http://host.invalid/api${path}`));
    const statuses = [];
    for (const path of ["/workflow-runs", "/workflowRuns", "/workflow-steps", "/workflow-runs/any"])
      statuses.push((await get(path)).status);
    expect(statuses).toEqual([401, 404, 404, 401]);
    await api.close();
  });

  it("has no journal in an app without workflows", async () => {
    const api = keelson({ entities: [entity("plain", { a: string })], driver: memoryDriver(), logger: noopLogger });
    await api.ready;
    expect((await api.fetch(new Request("http://host.invalid/api/workflow-runs/any"))).status).toBe(404);
    await api.close();
  });

  it("reports all problems with workflows at once", () => {
    const known = workflow("known").addStep(one);
    const wrong = entity("wrong", { a: string }).actions({
      none: action().workflow([]),
      bad: action().workflow([{ name: "" }]),
    });
    let problems: readonly string[] = [];
    try {
      keelson({
        entities: [wrong],
        driver: memoryDriver(),
        logger: noopLogger,
        plugins: (defaults) =>
          defaults.replace("workflows", workflows({ workflows: [known, known.build(), workflow("empty")] })),
      });
    } catch (error) {
      problems = (error as ConfigurationError).problems;
    }
    expect(problems).toEqual([
      'workflows: there is a workflow "known" already',
      'workflows: Workflow "empty" has no steps',
      'action "none" of wrong: Workflow "workflow" has no steps',
      'action "bad" of wrong: A step needs a name',
    ]);
  });
});
