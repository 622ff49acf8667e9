import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// Who has a task in a project may change its tasks; everybody may change open ones.

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };
const worksThere = defineRule("uanWorksThere", ({ user }) => ({
  OR: [{ project: { tasks: { assignee: String(user?.id) } } }, { state: "open" }],
}));
const project = entity("project", { name: string.unique(), tasks: hasMany(() => task) })
  .timestamps(false)
  .rules(all);
const task = entity("task", {
  assignee: string,
  state: string.default("closed"),
  project: belongsTo(() => project),
}).rules({
  ...all,
  update: [worksThere],
});

describe.each(ALL_DATABASES)("an update with a nested update of the record it refers to, on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof opened>;
  const opened = () => createTestApp({ entities: [project, task], driver: database.driver });
  beforeAll(async () => {
    database = await open();
    app = opened();
    await app.api.ready;
  });
  beforeEach(async () => {
    for (const one of ["task", "project"]) await app.api.driver.deleteMany(one, { id: { null: false } });
    const system = app.api.asSystem();
    await system.project.create({ id: "p", name: "old" });
    await system.task.create({ id: "mine", assignee: "ann", projectId: "p" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const patch = (id: string, data: object) => app.as({ id: "ann" }).request("PATCH", `/api/tasks/${id}`, data);
  const nested = { project: { update: { name: "new" } } };

  it("is not refused because the update ends the right that it had", async () => {
    const answer = await patch("mine", { assignee: "bob", state: "open", ...nested });
    expect(answer).toMatchObject({ status: 200 });
  });

  it.runIf(name === "PostgreSQL").each<[string, string]>([
    ["its own statement", `select 1 from "task" where "id" = 'his' for no key update`],
    ["the nested update", `insert into "project" ("id", "name") values ('q', 'new')`],
  ])("does not grant itself a right that was revoked while it waited for %s", async (_, held) => {
    await app.api.asSystem().task.create({ id: "his", assignee: "bob", projectId: "p" });
    const meanwhile = `update "task" set "assignee" = 'eve' where "id" = 'mine'`;
    const answer = await whileHeld(String(database.url), { held, meanwhile }, () =>
      patch("his", { assignee: "ann", ...nested }),
    );
    expect(await app.api.driver.findOne("task", { id: "his" })).toMatchObject({ assignee: "bob" });
    expect(answer).toMatchObject({ status: 403 });
  });
});
