import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  createEntityStep,
  entity,
  hasMany,
  manyToMany,
  noopLogger,
  runWorkflow,
  type Step,
  step,
  string,
  updateEntityStep,
  withOptions,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

// What the compensations of entity steps take back of related records and of omitted fields.

const all = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const person = entity("person", { name: string, teams: manyToMany(() => team) }).rules(all);
const team = entity("team", {
  name: string,
  token: string.omit().optional(),
  members: manyToMany(() => person),
  lead: belongsTo(() => person).optional(),
  tasks: hasMany(() => task),
  notes: hasMany(() => note),
}).rules(all);
const task = entity("task", { text: string, team: belongsTo(() => team).onDelete("cascade") }).rules(all);
const note = entity("note", {
  text: string,
  team: belongsTo(() => team)
    .optional()
    .onDelete("setNull"),
}).rules(all);
const fails = step("fails", () => {
  throw new Error("no more");
});

describe.each(ALL_DATABASES)("a failed workflow on %s", (_, connect) => {
  const open = (driver: Awaited<ReturnType<typeof connect>>["driver"]) =>
    createTestApp({ entities: [person, team, task, note], driver, logger: noopLogger });
  let database: Awaited<ReturnType<typeof connect>>;
  let app: ReturnType<typeof open>;
  beforeAll(async () => {
    database = await connect();
    app = open(database.driver);
    await app.api.ready;
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of [task, note, team, person])
      for (const { id } of await driver.findMany(one.build(), {})) await driver.delete(one.build(), { id });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    for (const id of ["ann", "bob"]) await driver.create(person.build(), { id, name: id, ...times });
    await driver.create(team.build(), { id: "t", name: "t", token: "old", ...times });
    await driver.link(team.build(), "members", "t", ["ann"]);
    await driver.create(note.build(), { id: "n", text: "old", teamId: "t", ...times });
  });

  const run = (...steps: readonly Step[]) =>
    runWorkflow([...steps.map((one) => withOptions(one, { compensationRetry: { attempts: 1 } })), fails], {
      resolve: app.api.resolve,
      asSystem: true,
    });
  const rows = (of: typeof team | typeof task | typeof note | typeof person) =>
    app.api.driver.findMany(of.build(), { sort: [{ field: "id", direction: "asc" }] });
  const membersOf = async () =>
    (await app.api.driver.links(team.build(), "members", ["t"])).map(({ target }) => target).sort();

  it.each([
    ["connect", { members: { connect: ["bob"] } }],
    ["disconnect", { members: { disconnect: ["ann"] } }],
    ["set", { members: { set: ["bob"] } }],
    ["ids", { membersIds: ["bob"] }],
    ["a reference", { lead: { connect: "bob" } }],
  ])("takes back what an update step writes by %s", async (_verb, data) => {
    const { status, compensatedSteps } = await run(updateEntityStep("team", { id: "t" }, data));
    expect([status, compensatedSteps]).toEqual(["compensated", ["update-team"]]);
    expect(await membersOf()).toEqual(["ann"]);
    expect((await rows(team))[0]).toMatchObject({ leadId: null });
  });

  it.each([
    ["notes", { notes: { update: [{ id: "n", text: "new" }] } }],
    ["notes", { notes: { create: [{ text: "new" }] } }],
    ["tasks", { tasks: { create: [{ text: "new" }] } }],
    ["members", { members: { create: [{ name: "eve" }] } }],
    ["lead", { lead: { create: { name: "eve" } } }],
  ])("does not say that an update step's %s are taken back", async (name, data) => {
    const result = await run(updateEntityStep("team", { id: "t" }, data));
    expect(result).toMatchObject({ status: "compensation_failed", compensatedSteps: [] });
    expect(String(result.compensationErrors.map(({ error }) => error.message))).toContain(
      `cannot be taken back: ${name}`,
    );
  });

  it("deletes children that it has created with a record, if the database does", async () => {
    const { status } = await run(createEntityStep("team", { name: "u", tasks: { create: [{ text: "a" }] } }));
    expect([status, await rows(task), (await rows(team)).length]).toEqual(["compensated", [], 1]);
  });

  it.each([
    ["notes", { notes: { create: [{ text: "a" }] } }],
    ["notes", { notes: { connect: ["n"] } }],
    ["lead", { lead: { create: { name: "eve" } } }],
  ])("does not say that a create step's %s are taken back", async (name, data) => {
    const result = await run(createEntityStep("team", { name: "u", ...data }));
    expect(result).toMatchObject({ status: "compensation_failed", compensatedSteps: [] });
    expect(String(result.compensationErrors.map(({ error }) => error.message))).toContain(
      `cannot be taken back: ${name}`,
    );
  });

  it("takes back omitted fields", async () => {
    const { status } = await run(updateEntityStep("team", { id: "t" }, { token: "new" }));
    expect([status, (await rows(team))[0]?.token]).toEqual(["compensated", "old"]);
  });

  it("keeps a created record of which only an omitted field has changed since", async () => {
    const { status } = await run(
      createEntityStep("team", { name: "u", token: "mine" }),
      step("other", async () => {
        const made = (await rows(team)).find(({ name }) => name === "u");
        await app.api.driver.update(team.build(), { id: made?.id }, { token: "theirs" });
      }),
    );
    expect([status, (await rows(team)).length]).toEqual(["compensation_failed", 2]);
  });
});
