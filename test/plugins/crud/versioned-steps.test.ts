import { describe, expect, it, onTestFinished } from "vitest";
import {
  createEntityStep,
  deleteEntityStep,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  runWorkflow,
  type Step,
  type StepContext,
  step,
  string,
  updateEntityStep,
} from "../../../src/index.ts";

const rules = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const note = entity("note", { text: string, colour: string.default("red") })
  .versioned()
  .rules(rules);
const fails = step("fails", () => Promise.reject(new TypeError("boom")));

async function start() {
  const api = keelson({ entities: [note], driver: memoryDriver(), logger: noopLogger });
  await api.ready;
  onTestFinished(() => api.close());
  const run = (...steps: Step[]) => runWorkflow(steps, { resolve: api.resolve, user: { id: "ann" } });
  return { notes: api.asSystem().note, run };
}

describe("versions and entity steps", () => {
  it("count what a step changes, and what its compensation changes back", async () => {
    const { notes, run } = await start();
    const { id } = await notes.create({ text: "one" });
    expect((await run(updateEntityStep("note", { id }, { text: "two" }))).status).toBe("completed");
    expect((await notes.get(id)).version).toBe(2);
    expect((await run(updateEntityStep("note", { id }, { text: "three" }), fails)).status).toBe("compensated");
    expect(await notes.get(id)).toMatchObject({ text: "two", version: 4 });
  });

  it("keep no compensation from changing back what others have left alone", async () => {
    const { notes, run } = await start();
    const { id } = await notes.create({ text: "one" });
    const others = step("others", () => notes.update(id, { colour: "blue" }));
    const result = await run(updateEntityStep("note", { id }, { text: "two" }), others, fails);
    expect(result.status).toBe("compensated");
    expect(await notes.get(id)).toMatchObject({ text: "one", colour: "blue", version: 4 });
  });

  it("come back with a record that a compensation creates again", async () => {
    const { notes, run } = await start();
    const { id } = await notes.create({ text: "one" });
    await notes.update(id, { text: "two" });
    expect((await run(deleteEntityStep("note", { id }), fails)).status).toBe("compensated");
    expect(await notes.get(id)).toMatchObject({ text: "two", version: 2 });
  });

  it("do not keep a creation from being taken back after later steps were", async () => {
    const { notes, run } = await start();
    const made = ({ results }: StepContext) => ({ id: (results["create-note"] as { id: string }).id });
    const change = updateEntityStep("note", made, { text: "two" });
    expect((await run(createEntityStep("note", { text: "one" }), change, fails)).status).toBe("compensated");
    expect(await notes.count()).toBe(0);
  });
});
