import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { bool, datetime, entity, string } from "../../../src/entity/index.ts";
import type { FieldChecks, RuleLists } from "../../../src/gate/index.ts";
import {
  action,
  actions,
  archiveAction,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  existsAction,
  exportAction,
  importAction,
  restoreAction,
  softDeleteAction,
  toggleAction,
  unarchiveAction,
} from "../../../src/plugins/actions/index.ts";
import { createFakeKernel } from "../../../src/testing/index.ts";

const compiledRules: unknown[] = [];
const rules: RuleLists = { compile: (names, { name }, at) => void compiledRules.push([names, name, at]) };
const fields: FieldChecks = {
  compile: () => ({ fromObject: (value) => value as Record<string, unknown>, fromQuery: () => ({ asked: true }) }),
};
const boot = () =>
  createFakeKernel()
    .given("rules.lists", rules)
    .given("validation.fields", fields)
    .given("query", { reads: () => () => ({}) })
    .withDriver(memoryDriver({ task: [{ id: "t1", title: "One", done: false, archived: false, deletedAt: null }] }));

const task = entity("task", {
  title: string,
  done: bool.default(false),
  archived: bool.default(false),
  deletedAt: datetime.optional(),
});

describe("the plugin by itself", () => {
  it("declares a route per action, and a policy that hides softly deleted records", async () => {
    const all = task.actions({
      softDelete: softDeleteAction,
      restore: restoreAction,
      archive: archiveAction,
      unarchive: unarchiveAction,
      clone: cloneAction,
      bulkUpdate: bulkUpdateAction,
      bulkDelete: bulkDeleteAction,
      toggle: toggleAction("done"),
      exists: existsAction,
      count: countAction,
      export: exportAction,
      import: importAction,
      mine: action()
        .get()
        .handler(() => []),
      finish: { path: "/:id/finish", handler: () => "finished" },
    });
    const kernel = await boot().withEntities(all).use(actions());
    expect(kernel.seen).toEqual({
      services: [],
      hooks: [],
      routes: [
        "DELETE /tasks/:id/soft",
        "DELETE /tasks/bulk",
        "GET /tasks/:id/exists",
        "GET /tasks/count",
        "GET /tasks/export",
        "GET /tasks/mine",
        "POST /tasks/:id/archive",
        "POST /tasks/:id/clone",
        "POST /tasks/:id/finish",
        "POST /tasks/:id/restore",
        "POST /tasks/:id/toggle-done",
        "POST /tasks/:id/unarchive",
        "POST /tasks/bulk-delete",
        "POST /tasks/bulk-update",
        "POST /tasks/import",
        "PUT /tasks/bulk",
      ],
      requires: ["rules", "validation"],
      provides: ["soft-delete"],
      problems: [],
    });
    await kernel.close();
  });

  it("declares nothing for entities without actions", async () => {
    const kernel = await boot().withEntities(task).use(actions());
    expect(kernel.seen.routes).toEqual([]);
    await kernel.close();
  });

  it("changes records through operations, and returns its handlers' results", async () => {
    const acted = task.actions({
      toggle: toggleAction("done"),
      exists: existsAction,
      look: action()
        .onResource()
        .get()
        .handler(({ record }) => record.title),
    });
    const kernel = await boot().withEntities(acted).use(actions());
    expect(await kernel.call("POST", "/tasks/t1/toggle-done")).toMatchObject({ status: 200, body: { done: true } });
    expect(await kernel.call("POST", "/tasks/t1/toggle-done")).toMatchObject({ status: 200, body: { done: false } });
    expect((await kernel.call("GET", "/tasks/t1/exists")).body).toEqual({ exists: true });
    expect((await kernel.call("GET", "/tasks/t2/exists")).body).toEqual({ exists: false });
    expect((await kernel.call("GET", "/tasks/t1/look")).body).toBe("One");
    expect((await kernel.call("GET", "/tasks/t2/look")).status).toBe(404);
    await kernel.close();
  });

  it("compiles its rules and fields with the services of other plugins", async () => {
    compiledRules.length = 0;
    const acted = task.actions({
      ask: action()
        .get()
        .rules("admin")
        .query({ title: string })
        .handler(({ query, rules: own }) => ({ query, own })),
    });
    const kernel = await boot().withEntities(acted).use(actions());
    expect(compiledRules).toEqual([[["admin"], "task", 'action "ask" of task']]);
    expect((await kernel.call("GET", "/tasks/ask")).body).toEqual({ query: { asked: true }, own: ["admin"] });
    await kernel.close();
  });
});
