import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  importAction,
  manyToMany,
  string,
} from "../../../src/index.ts";
import { createPlugin } from "../../../src/plugin.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// A nested create comes before the statement of its record. If that then matches nothing, only the whole transaction
// takes the new record back.

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const unblocked = defineRule("rancUnblocked", () => ({ NOT: { team: { blocks: { reason: { null: false } } } } }));
const team = entity("team", { name: string, blocks: hasMany(() => block) }).rules(all);
const block = entity("block", { reason: string, team: belongsTo(() => team), helper: belongsTo(() => helper) }).rules(
  all,
);
const helper = entity("helper", { name: string, blocks: hasMany(() => block) }).rules(all);
const tag = entity("tag", { word: string.unique(), tasks: manyToMany(() => task) })
  .timestamps(false)
  .rules(all);
const task = entity("task", {
  title: string,
  code: string.unique(),
  team: belongsTo(() => team),
  helper: belongsTo(() => helper).optional(),
  tags: manyToMany(() => tag),
})
  .actions({ bulk: bulkUpdateAction(), import: importAction({ upsertBy: "code" }) })
  .rules({ ...all, update: [unblocked] });

/** Changes a task only if it is called so, and goes on if it is not. */
const renames = createPlugin({
  id: "renames",
  version: "1.0.0",
  setup({ routes }) {
    routes.add({
      method: "POST",
      path: "/rename",
      action: "rename",
      rules: ["everyone"],
      handler: ({ scope }) =>
        scope.transaction(async (inner) => {
          const data = { title: "new", helper: { create: { name: "h" } } };
          const { applied } = await inner.run({
            kind: "update",
            entity: task,
            id: "k",
            data,
            when: { title: "other" },
          });
          return { applied };
        }),
    });
  },
});

describe.each(ALL_DATABASES)("an update that matches nothing after a nested create, on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  const opened = () =>
    createTestApp({ entities: [team, block, helper, tag, task], plugins: [renames], driver: database.driver });
  let app: ReturnType<typeof opened>;
  beforeAll(async () => {
    database = await open();
    app = opened();
    await app.api.ready;
  });
  beforeEach(async () => {
    for (const name of ["task", "tag", "block", "helper", "team"])
      await app.api.driver.deleteMany(name, { id: { null: false } });
    const system = app.api.asSystem();
    for (const id of ["free", "other"]) await system.team.create({ id, name: id });
    await system.task.create({ id: "j", title: "old", code: "j", teamId: "free" });
    await system.task.create({ id: "k", title: "old", code: "k", teamId: "other" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const ann = () => app.as({ id: "ann" });
  const blocking = {
    title: "new",
    helper: { create: { name: "h", blocks: { create: [{ reason: "x", teamId: "free" }] } } },
  };
  const stored = async () => [
    (await app.api.asSystem().task.list({ sort: ["id"] })).data.map(({ title }) => title),
    await app.api.driver.count("helper"),
    await app.api.driver.count("tag"),
  ];

  it("refuses a bulk update as a whole, as it refuses the record alone", async () => {
    const alone = await ann().request("PATCH", "/api/tasks/j", blocking);
    const bulk = await ann().request("PUT", "/api/tasks/bulk", { ids: ["j", "k"], data: blocking });
    expect([alone.status, bulk.status]).toEqual([403, 403]);
    expect(await stored()).toEqual([["old", "old"], 0, 0]);
  });

  it("refuses the row of an import, and stores the others", async () => {
    const rows = [
      { code: "j", teamId: "free", ...blocking },
      { code: "k", teamId: "other", title: "new" },
    ];
    const { status, body } = await ann().request("POST", "/api/tasks/import", rows);
    expect([status, body]).toMatchObject([
      200,
      { updated: 1, failed: [{ row: 1, errors: { _: "Permission denied" } }] },
    ]);
    expect(await stored()).toEqual([["old", "new"], 0, 0]);
  });

  it("leaves out a record that the caller may not change before it", async () => {
    await app.api.asSystem().helper.create({ name: "g", blocks: { create: [{ reason: "x", teamId: "free" }] } });
    const data = { title: "new", helper: { create: { name: "h" } } };
    const { status, body } = await ann().request("PUT", "/api/tasks/bulk", { ids: ["j", "k"], data });
    expect([status, body]).toEqual([200, { count: 1 }]);
    expect(await stored()).toEqual([["old", "new"], 2, 0]);
  });

  it("is a conflict if code goes on after a condition on the record is not met", async () => {
    const { status } = await ann().request("POST", "/rename");
    expect([status, await stored()]).toEqual([409, [["old", "old"], 0, 0]]);
  });

  it("refuses a bulk update if the right to a record ends while a nested create waits", async ({ skip }) => {
    const { url } = database;
    if (!url?.startsWith("postgres")) return skip("one writer at a time");
    const held = `insert into "tag" ("id", "word") values ('t', 'w')`;
    const meanwhile = `insert into "helper" ("id", "name", "createdAt", "updatedAt") values ('g', 'g', now(), now());
      insert into "block" ("id", "reason", "teamId", "helperId", "createdAt", "updatedAt")
      values ('b', 'x', 'free', 'g', now(), now())`;
    const data = { tags: { create: [{ word: "w" }] } };
    const answer = await whileHeld(url, { held, meanwhile }, () =>
      ann().request("PUT", "/api/tasks/bulk", { ids: ["j"], data }),
    );
    expect(answer).toMatchObject({ status: 403 });
    expect(await stored()).toEqual([["old", "old"], 1, 0]);
  });
});
