import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  bool,
  type Driver,
  defineRule,
  deleteEntityStep,
  entity,
  executeWorkflow,
  hasMany,
  type KeelsonError,
  keelson,
  noopLogger,
  string,
  updateEntityStep,
} from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import type { RunOptions } from "../../../src/plugins/workflows/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

// A write that is refused after it was stored is rolled back, even if a handler catches the error and continues.

const everyone = ["everyone"] as const;
/** Passes before the record is changed, and fails afterwards. */
const hasOpenFolder = defineRule("hasOpenFolder", () => ({ notes: { folder: { open: true } } }));

const caught = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: KeelsonError) => error.code,
  );

const folder = entity("folder", { name: string, open: bool.default(true), notes: hasMany(() => note) })
  .rules({ read: everyone, create: everyone, update: [hasOpenFolder], delete: everyone })
  .actions({
    close: action()
      .rules("everyone")
      .handler(async (ctx) => ({ result: await caught(ctx.client("folder").update("f", { open: false })) })),
    closeTogether: action()
      .rules("everyone")
      .handler((ctx) =>
        ctx.transaction(async (inner) => {
          await inner.client("folder").update("g", { name: "before" });
          return { result: await caught(inner.client("folder").update("f", { open: false })) };
        }),
      ),
    tryOut: action()
      .rules("everyone")
      .handler((ctx) =>
        ctx.transaction(async (inner) => {
          const result = await caught(inner.client("folder").update("f", { name: 1 as never }));
          await inner.client("folder").update("g", { name: "after" });
          return { result };
        }),
      ),
    closeStep: action()
      .rules("everyone")
      .handler(async (ctx) => {
        const steps = [updateEntityStep("folder", { id: "f" }, { open: false })];
        return { result: (await executeWorkflow(steps, ctx as RunOptions)).status };
      }),
    removeStep: action()
      .rules("everyone")
      .handler(async (ctx) => {
        const steps = [deleteEntityStep("folder", { id: "f" })];
        return { result: (await executeWorkflow(steps, ctx as RunOptions)).status };
      }),
  });
const note = entity("note", { text: string, folder: belongsTo(() => folder).onDelete("cascade") }).rules({
  read: everyone,
  create: everyone,
});

describe.each(ALL_DATABASES)("a write that is refused after it was stored, on %s", (_, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let api: ReturnType<typeof appOn>;
  const appOn = (driver: Driver) =>
    keelson({
      entities: [folder, note],
      driver,
      logger: noopLogger,
      rules: [hasOpenFolder],
      plugins: [idempotency()],
      getUser: () => ({ id: "ann" }),
    });
  beforeAll(async () => {
    database = await open();
    api = appOn(database.driver);
    await api.ready;
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });
  beforeEach(async () => {
    await database.driver.deleteMany("note", { id: { null: false } });
    await database.driver.deleteMany("folder", { id: { null: false } });
    for (const id of ["f", "g"]) {
      await api.asSystem().folder.create({ id, name: id });
      await api.asSystem().note.create({ id: `of ${id}`, text: "t", folderId: id });
    }
  });

  let keys = 0;
  async function post(path: string, hasKey: boolean): Promise<unknown> {
    const headers: Record<string, string> = hasKey ? { "idempotency-key": `k${keys++}` } : {};
    const response = await api.fetch(
      new Request(`http://test.invalid/api/folders/${path}`, { method: "POST", headers }),
    );
    const { result, code } = (await response.json()) as { result?: string; code?: string };
    return [response.status, result ?? code];
  }
  const stored = async () => {
    const [f, g] = await database.driver.findMany("folder", { sort: [{ field: "id", direction: "asc" }] });
    return [f?.open, g?.name, await database.driver.count("note")];
  };
  const UNTOUCHED = [true, "g", 2];

  it("is rolled back alone if each operation has its own transaction", async () => {
    expect(await post("close", false)).toEqual([200, "FORBIDDEN"]);
    expect(await post("closeStep", false)).toEqual([200, "compensated"]);
    expect(await post("removeStep", false)).toEqual([200, "compensated"]);
    expect(await stored()).toEqual(UNTOUCHED);
  });

  it("fails the transaction it joined, even if the handler caught the error", async () => {
    expect(await post("closeTogether", false)).toEqual([403, "FORBIDDEN"]);
    expect(await stored()).toEqual(UNTOUCHED);
  });

  it.each(["close", "closeTogether", "closeStep", "removeStep"])("fails %s with an idempotency key", async (path) => {
    expect(await post(path, true)).toEqual(path === "removeStep" ? [409, "CONFLICT"] : [403, "FORBIDDEN"]);
    expect(await stored()).toEqual(UNTOUCHED);
  });

  it.each([false, true])("does not affect a transaction when nothing was stored yet (key: %s)", async (hasKey) => {
    expect(await post("tryOut", hasKey)).toEqual([200, "VALIDATION_FAILED"]);
    expect(await stored()).toEqual([true, "after", 2]);
  });
});

it("fails a transaction also for the writes of a parallel operation", async () => {
  const isOpen = defineRule("isOpenJob", () => ({ state: "open" }));
  const job = entity("job", { state: string, note: string.optional() })
    .rules({ read: everyone, update: [isOpen] })
    .actions({
      both: action()
        .rules("everyone")
        .handler(({ transaction }) =>
          transaction(async ({ client }) => {
            const jobs = client("job");
            const both = [jobs.update("b", { note: "written" }), jobs.update("a", { state: "closed" })];
            return { result: await Promise.all(both.map(caught)) };
          }),
        ),
    });
  const app = createTestApp({ entities: [job], logger: noopLogger });
  for (const id of ["a", "b"]) await app.api.asSystem().job.create({ id, state: "open" });
  expect((await app.as({ id: "u" }).request("POST", "/api/jobs/both", {})).status).toBe(403);
  await app.close();
});
