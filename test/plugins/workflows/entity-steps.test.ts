import { beforeEach, describe, expect, it } from "vitest";
import {
  createEnhancedDriver,
  createEntityStep,
  deleteEntityStep,
  type EnhancedDriver,
  entity,
  executeWorkflow,
  int,
  memoryDriver,
  noopLogger,
  type Step,
  type StepContext,
  step,
  string,
  updateEntityStep,
  verifyPassword,
  type Where,
  withOptions,
  workflow,
} from "../../../src/index.ts";

const noteBuilder = entity("note", { text: string, stars: int.default(0) });
const note = noteBuilder.build();
const member = entity("member", { name: string, password: string.password({ cost: 10 }) });
const at = { createdAt: new Date(0), updatedAt: new Date(0) };
const old = { id: "n", text: "old", stars: 1, ...at };
let driver: EnhancedDriver;
beforeEach(async () => {
  driver = createEnhancedDriver(memoryDriver({ note: [old] }), [noteBuilder, member]);
  await driver.connect();
});

const fails = step("fails", () => Promise.reject(new TypeError("boom")));
const run = (...steps: Step<never>[]) => executeWorkflow(steps, { driver, input: { text: "given" }, log: noopLogger });
const plain = (row: unknown) => Object.fromEntries(Object.entries(row as object));
const notes = async () => (await driver.findMany("note", { sort: [{ field: "text", direction: "asc" }] })).map(plain);
/** The id of the note that is not `old`. */
const newId = async () => (await driver.findOne("note", { text: "new" }))?.id;
/** Another caller acts between a step and its compensation. */
const meanwhile = (work: () => Promise<unknown>): Step => step("meanwhile", async () => void (await work()));
const once = <S extends Step>(made: S): Step => withOptions(made, { compensationRetry: { attempts: 1 } });

describe("createEntityStep", () => {
  const data = { text: "new" };
  const asFunction = ({ input }: StepContext) => ({ ...(input as object) });
  it.each<[string, Step, string, string]>([
    ["an entity's name", createEntityStep("note", data), "create-note", "new"],
    ["a definition", createEntityStep(note, data), "create-note", "new"],
    ["a builder", createEntityStep(noteBuilder, data), "create-note", "new"],
    ["a function", createEntityStep("note", asFunction), "create-note", "given"],
    ["a promise", createEntityStep(note, async (context) => asFunction(context)), "create-note", "given"],
    ["a name and an entity's name", createEntityStep("mine", "note", data), "mine", "new"],
    ["a name and a definition", createEntityStep("mine", note, data), "mine", "new"],
    ["a name and a builder", createEntityStep("mine", noteBuilder, asFunction), "mine", "given"],
  ])("creates a record when it is given %s", async (_, made, name, text) => {
    const { success, results } = await run(made);
    expect(success).toBe(true);
    expect(results[name]).toMatchObject({ id: expect.any(String), text, createdAt: expect.any(Date) });
    expect(await driver.findOne("note", { id: (results[name] as { id: string }).id })).toMatchObject({ text });
  });

  it("creates a record of defaults only, if there is a name and no data", async () => {
    const bare = entity("bare", { text: string.optional() });
    const own = createEnhancedDriver(memoryDriver(), [bare]);
    await own.connect();
    expect((await executeWorkflow(own, [createEntityStep("made", bare)])).status).toBe("completed");
    expect(await own.count("bare")).toBe(1);
  });

  it("compensates by deleting the record", async () => {
    const result = await run(createEntityStep(note, data), fails);
    expect(result).toMatchObject({ status: "compensated", compensatedSteps: ["create-note"] });
    expect(await notes()).toEqual([old]);
  });

  it("deletes it also if later steps changed it, and were compensated", async () => {
    const idOf = ({ results }: StepContext) => ({ id: (results["create-note"] as { id: string }).id });
    const result = await run(createEntityStep(note, data), updateEntityStep(note, idOf, { stars: 5 }), fails);
    expect(result.compensatedSteps).toEqual(["update-note", "create-note"]);
    expect(await notes()).toEqual([old]);
  });

  it("fails to compensate if another caller has changed the record since", async () => {
    const change = meanwhile(async () => driver.update("note", { id: await newId() }, { stars: 9 }));
    const result = await run(once(createEntityStep(note, data)), change, fails);
    expect(result).toMatchObject({
      status: "compensation_failed",
      compensatedSteps: [],
      compensationErrors: [{ step: "create-note", error: { code: "CONFLICT" } }],
      error: { message: "boom" },
    });
    expect(await notes()).toMatchObject([{ text: "new", stars: 9 }, old]);
  });

  it("has nothing to compensate if another caller has deleted it since", async () => {
    const remove = meanwhile(async () => driver.delete("note", { id: await newId() }));
    expect(await run(createEntityStep(note, data), remove, fails)).toMatchObject({
      status: "compensated",
      compensatedSteps: ["create-note"],
    });
  });

  it("stores a password as a hash, and compensates such a record as well", async () => {
    const made = createEntityStep(member, { name: "Ann", password: "correct horse" });
    let stored: unknown;
    const look = meanwhile(async () => {
      stored = (await driver.findOne("member", { name: "Ann" }))?.password;
    });
    const result = await run(made, look, fails);
    expect(await verifyPassword("correct horse", stored as string)).toBe(true);
    expect(result.status).toBe("compensated");
    expect(JSON.stringify(result.results)).not.toContain("correct horse");
    expect(await driver.count("member")).toBe(0);
  });
});

describe("updateEntityStep", () => {
  const where = { id: "n" };
  const data = { text: "new" };
  const whereIs = () => where;
  const dataIs = async ({ input }: StepContext) => ({ ...(input as object) });
  it.each<[string, Step, string, string]>([
    ["an entity's name", updateEntityStep("note", where, data), "update-note", "new"],
    ["a definition", updateEntityStep(note, where, data), "update-note", "new"],
    ["a builder", updateEntityStep(noteBuilder, where, data), "update-note", "new"],
    ["functions", updateEntityStep("note", whereIs, dataIs), "update-note", "given"],
    ["a name and an entity's name", updateEntityStep("mine", "note", where, data), "mine", "new"],
    ["a name and a definition", updateEntityStep("mine", note, whereIs, data), "mine", "new"],
    ["a name and a builder", updateEntityStep("mine", noteBuilder, where, dataIs), "mine", "given"],
    ["other conditions than the id", updateEntityStep(note, { text: "old" }, data), "update-note", "new"],
  ])("changes a record when it is given %s", async (_, made, name, text) => {
    const { success, results } = await run(made);
    expect(success).toBe(true);
    expect(results[name]).toMatchObject({ id: "n", text, stars: 1 });
    expect(await driver.findOne("note", { id: "n" })).toMatchObject({ text, stars: 1 });
  });

  it("reverts what it changed, and nothing else", async () => {
    const other = meanwhile(() => driver.update("note", { id: "n" }, { stars: 9 }));
    const result = await run(updateEntityStep(note, where, data), other, fails);
    expect(result).toMatchObject({ status: "compensated", compensatedSteps: ["update-note"] });
    expect(await notes()).toMatchObject([{ text: "old", stars: 9 }]);
  });

  it("leaves a record unchanged if another caller has changed its fields since", async () => {
    const other = meanwhile(() => driver.update("note", { id: "n" }, { text: "theirs" }));
    const result = await run(once(updateEntityStep(note, where, data)), other, fails);
    expect(result).toMatchObject({ status: "compensation_failed", compensatedSteps: [] });
    expect(result.compensationErrors[0]?.error.message).toBe("note n has been changed since: text");
    expect(await notes()).toMatchObject([{ text: "theirs" }]);
  });

  it("does not recreate a record that another caller has deleted since", async () => {
    const other = meanwhile(() => driver.delete("note", { id: "n" }));
    const result = await run(once(updateEntityStep(note, where, data)), other, fails);
    expect(result.compensationErrors).toMatchObject([{ error: { message: "note n has been deleted since" } }]);
    expect(await notes()).toEqual([]);
  });

  it("reverts several changes of one record in turn", async () => {
    const result = await run(
      updateEntityStep("one", note, where, { text: "one" }),
      updateEntityStep("two", note, where, { text: "two" }),
      fails,
    );
    expect(result.compensatedSteps).toEqual(["two", "one"]);
    expect(await notes()).toMatchObject([{ text: "old" }]);
  });

  it("has nothing to compensate when it changed nothing", async () => {
    const other = meanwhile(() => driver.update("note", { id: "n" }, { text: "theirs" }));
    expect((await run(updateEntityStep(note, where, { text: "old" }), other, fails)).status).toBe("compensated");
    expect(await notes()).toMatchObject([{ text: "theirs" }]);
  });

  it("cannot revert a changed password, and reports it", async () => {
    await driver.create("member", { id: "m", name: "Ann", password: "correct horse", ...at });
    const result = await run(once(updateEntityStep(member, { id: "m" }, { password: "battery staple" })), fails);
    expect(result.status).toBe("compensation_failed");
    expect(result.compensationErrors[0]?.error.message).toContain("cannot be taken back: password");
    const stored = (await driver.findOne("member", { id: "m" }))?.password as string;
    expect(await verifyPassword("battery staple", stored)).toBe(true);
  });
});

describe("deleteEntityStep", () => {
  const where = { id: "n" };
  it.each<[string, Step, string]>([
    ["an entity's name", deleteEntityStep("note", where), "delete-note"],
    ["a definition", deleteEntityStep(note, where), "delete-note"],
    ["a builder", deleteEntityStep(noteBuilder, () => where), "delete-note"],
    ["a name and an entity's name", deleteEntityStep("mine", "note", where), "mine"],
    ["a name and a definition", deleteEntityStep("mine", note, () => where), "mine"],
    ["a name and a builder", deleteEntityStep("mine", noteBuilder, { text: "old" }), "mine"],
  ])("deletes a record when it is given %s", async (_, made, name) => {
    const { success, results } = await run(made);
    expect([success, plain(results[name])]).toEqual([true, old]);
    expect(await notes()).toEqual([]);
  });

  it("creates the record again, with its id and all its values", async () => {
    const result = await run(deleteEntityStep(note, where), fails);
    expect(result).toMatchObject({ status: "compensated", compensatedSteps: ["delete-note"] });
    expect(await notes()).toEqual([old]);
  });

  it("leaves a record unchanged that another caller has created with its id", async () => {
    const other = meanwhile(() => driver.create("note", { id: "n", text: "theirs", stars: 0, ...at }));
    const result = await run(once(deleteEntityStep(note, where)), other, fails);
    expect(result).toMatchObject({ status: "compensation_failed", compensationErrors: [{ step: "delete-note" }] });
    expect(await notes()).toMatchObject([{ text: "theirs" }]);
  });

  it("cannot recreate a record with a password, and reports it", async () => {
    await driver.create("member", { id: "m", name: "Ann", password: "correct horse", ...at });
    const result = await run(once(deleteEntityStep(member, { id: "m" })), fails);
    expect(result.status).toBe("compensation_failed");
    expect(result.compensationErrors[0]?.error.message).toBe("member m had a password and cannot be created again");
    expect(await driver.count("member")).toBe(0);
  });
});

describe("an entity step whose conditions", () => {
  const both = (where: Where | ((context: StepContext<never>) => Where)): Step[] => [
    updateEntityStep(note, where, { text: "x" }),
    deleteEntityStep(note, where),
  ];

  it("match no record fails, and changes nothing", async () => {
    for (const where of [{ id: "gone" }, { text: "gone" }, () => ({ id: "gone" })])
      for (const made of both(where))
        expect(await run(made)).toMatchObject({ status: "compensated", error: { code: "NOT_FOUND", status: 404 } });
    expect(await notes()).toEqual([old]);
  });

  it("match several records fails, and changes nothing", async () => {
    await driver.create("note", { ...old, id: "n2" });
    for (const made of both({ text: "old" }))
      expect((await run(made)).error?.message).toBe("Several records of note match; a step is about one of them");
    expect(await driver.count("note", { text: "old" })).toBe(2);
  });

  it("are missing fails, even if there is only one record", async () => {
    const idOf = ({ input }: StepContext) => ({ id: (input as { noteId?: string }).noteId });
    for (const [where, code] of [
      [{}, "CONFIGURATION_ERROR"],
      [{ id: undefined }, "BAD_REQUEST"],
      [idOf, "BAD_REQUEST"],
    ] as const)
      for (const made of both(where)) expect(await run(made)).toMatchObject({ status: "compensated", error: { code } });
    expect(await notes()).toEqual([old]);
  });
});

it("an entity step that fails is rolled back by itself, and retried if allowed", async () => {
  let tries = 0;
  const made = updateEntityStep(note, { id: "n" }, async ({ driver: own }) => {
    tries += 1;
    await own.create("note", { ...old, id: `extra ${tries}` });
    if (tries < 3) throw new TypeError("not yet");
    return { text: "new" };
  });
  const result = await run(withOptions(made, { retry: { attempts: 3, delay: 0 } }));
  expect([result.status, tries]).toEqual(["completed", 3]);
  expect((await notes()).map(({ id }) => id)).toEqual(["n", "extra 3"]);
});

it("entity steps fail without a driver", async () => {
  const result = await executeWorkflow(workflow("w").addStep(createEntityStep(note, { text: "x" })));
  expect(result.error?.message).toContain("was given no driver");
});
