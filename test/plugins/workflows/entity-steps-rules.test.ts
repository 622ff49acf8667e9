import { afterEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  createEntityStep,
  datetime,
  deleteEntityStep,
  type EntityLike,
  embedded,
  entity,
  int,
  runWorkflow,
  type Step,
  type StepContext,
  step,
  string,
  type User,
  updateEntityStep,
  withOptions,
  workflow,
} from "../../../src/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { workflowApp } from "../../support/workflows/workflow-app.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ann = { id: "ann" };
const person = entity("person", { name: string });
const doc = entity("doc", {
  title: string.min(2),
  owner: belongsTo(() => person).optional(),
  secret: string.optional().omit(),
  state: string.default("draft").writable("admin"),
})
  .ownedBy("owner")
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["owner"], delete: ["owner"] });
const stock = entity("stock", { left: int.min(0) }).rules({ read: ["everyone"] });
const gone = entity("gone", { text: string, deletedAt: datetime.optional() })
  .softDelete()
  .rules({ read: ["everyone"], create: ["authenticated"], delete: ["authenticated"] });
const all: readonly EntityLike[] = [person, doc, stock, gone];

/** An app with in-memory runs, and a way to run steps as a given caller. */
async function started() {
  const { file, remove } = await freshSqliteFile();
  const app = await workflowApp({ driver: embedded({ file }), entities: all, journal: false });
  cleanups.push(remove, app.close);
  const system = app.api.asSystem() as unknown as Record<
    string,
    { create(data: object): Promise<unknown>; get(id: string): Promise<unknown>; list(): Promise<{ data: unknown[] }> }
  >;
  for (const id of ["ann", "bob"]) await system.person?.create({ id, name: id });
  const run = (user: User | null, ...steps: Step[]) =>
    runWorkflow(steps, { resolve: app.api.resolve, user, input: { title: "given" } });
  return {
    app,
    run,
    rows: async (name: string) => (await system[name]?.list())?.data as Record<string, unknown>[],
    system,
  };
}
const fails = step("fails", () => Promise.reject(new TypeError("boom")));
const idOf =
  (name: string) =>
  ({ results }: StepContext) => ({ id: (results[name] as { id: string }).id });

describe("entity steps in an app", () => {
  it("have the caller's rights, and new records belong to the caller", async () => {
    const { run, rows } = await started();
    const result = await run(
      ann,
      createEntityStep("doc", { title: "mine" }),
      updateEntityStep("doc", idOf("create-doc"), { title: "still mine" }),
    );
    expect(result.status).toBe("completed");
    expect(await rows("doc")).toMatchObject([{ title: "still mine", ownerId: "ann", state: "draft" }]);
  });

  it("fail when the rules refuse the caller, and earlier steps are compensated", async () => {
    const { run, rows, system } = await started();
    await system.stock?.create({ id: "s", left: 3 });
    await system.doc?.create({ id: "theirs", title: "theirs", ownerId: "bob" });
    const denied: readonly (readonly [Step, number])[] = [
      [updateEntityStep("stock", { id: "s" }, { left: 2 }), 403],
      [deleteEntityStep("stock", { id: "s" }), 403],
      [createEntityStep("stock", { left: 2 }), 403],
      [updateEntityStep("doc", { id: "theirs" }, { title: "mine now" }), 403],
      [updateEntityStep("doc", { title: "theirs" }, { title: "mine now" }), 404],
      [deleteEntityStep("doc", { id: "theirs" }), 403],
      [updateEntityStep("doc", { id: "none" }, { title: "mine now" }), 404],
    ];
    for (const [made, status] of denied)
      expect(await run(ann, createEntityStep("first", "doc", { title: "mine" }), made)).toMatchObject({
        status: "compensated",
        failedStep: made.name,
        compensatedSteps: ["first"],
        error: { status },
      });
    expect(await rows("doc")).toMatchObject([{ title: "theirs" }]);
    expect(await rows("stock")).toMatchObject([{ left: 3 }]);
    expect(await run(null, createEntityStep("doc", { title: "nobody's" }))).toMatchObject({ error: { status: 401 } });
  });

  it("are validated", async () => {
    const { run, rows } = await started();
    expect(await run(ann, createEntityStep("doc", { title: "x" }))).toMatchObject({
      error: { status: 400, code: "VALIDATION_FAILED" },
    });
    expect(await rows("doc")).toEqual([]);
  });

  it("have the system's rights if they request them, and compensations always do", async () => {
    const { run, rows, system } = await started();
    await system.stock?.create({ id: "s", left: 3 });
    const reserve = withOptions(updateEntityStep("stock", { id: "s" }, { left: 2 }), { asSystem: true });
    expect((await run(ann, reserve)).status).toBe("completed");
    expect(await rows("stock")).toMatchObject([{ left: 2 }]);
    const again = withOptions(updateEntityStep("stock", { id: "s" }, { left: 1 }), { asSystem: true });
    expect((await run(ann, again, fails)).status).toBe("compensated");
    expect(await rows("stock")).toMatchObject([{ left: 2 }]);
    // A caller may not delete a record they have just given away; the compensation may.
    const give = updateEntityStep("doc", idOf("create-doc"), { ownerId: "bob" });
    const given = await run(ann, createEntityStep("doc", { title: "a gift" }), give, fails);
    expect(given.status).toBe("compensated");
    expect(await rows("doc")).toEqual([]);
  });

  it("restore a deleted record with all its values, hidden ones included", async () => {
    const { run, system } = await started();
    await system.doc?.create({ id: "d", title: "mine", ownerId: "ann", secret: "s3cret", state: "published" });
    const reads = step("reads", ({ driver }) => driver.findOne("doc", { id: "d" }));
    const removed = await run(ann, deleteEntityStep("doc", { id: "d" }), fails);
    expect(removed.status).toBe("compensated");
    const { results } = await run(ann, reads);
    const { id, ownerId, state, secret } = results.reads as Record<string, unknown>;
    expect({ id, ownerId, state, secret }).toEqual({ id: "d", ownerId: "ann", state: "published", secret: "s3cret" });
    expect(JSON.stringify(await system.doc?.get("d"))).not.toContain("s3cret");
  });

  it("can share one transaction of the caller", async () => {
    const together = (...steps: Step[]) =>
      steps.reduce((builder, made) => builder.addStep(made), workflow("w").transactional()).build();
    const { app, rows } = await started();
    const context = { resolve: app.api.resolve, user: ann };
    const create = createEntityStep("doc", { title: "mine" });
    const result = await runWorkflow(together(create, createEntityStep("stock", { left: 1 })), context);
    expect(result).toMatchObject({ status: "compensated", compensatedSteps: [], error: { status: 403 } });
    expect(await runWorkflow(together(create), context)).toMatchObject({ status: "completed" });
    expect(await rows("doc")).toHaveLength(1);
  });
});

describe("entity steps of an entity with soft deletion", () => {
  it("delete permanently what they created, and restore what they deleted", async () => {
    const { run, rows } = await started();
    expect((await run(ann, createEntityStep("gone", { text: "t" }), fails)).status).toBe("compensated");
    expect(await rows("gone")).toEqual([]);
    expect((await run(ann, createEntityStep("gone", { text: "t" }))).status).toBe("completed");
    const [row] = await rows("gone");
    const removed = await run(ann, deleteEntityStep("gone", { id: String(row?.id) }), fails);
    expect(removed).toMatchObject({ status: "compensated", compensatedSteps: ["delete-gone"] });
    expect(await rows("gone")).toMatchObject([{ id: row?.id, text: "t" }]);
  });
});
