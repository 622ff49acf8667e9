import { describe, expect, it, onTestFinished } from "vitest";
import {
  action,
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
import { request, startApp } from "../../support/http.ts";

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
  it("count a step's changes, and those of its compensation", async () => {
    const { notes, run } = await start();
    const { id } = await notes.create({ text: "one" });
    expect((await run(updateEntityStep("note", { id }, { text: "two" }))).status).toBe("completed");
    expect((await notes.get(id)).version).toBe(2);
    expect((await run(updateEntityStep("note", { id }, { text: "three" }), fails)).status).toBe("compensated");
    expect(await notes.get(id)).toMatchObject({ text: "two", version: 4 });
  });

  it("do not stop a compensation from reverting fields that others did not change", async () => {
    const { notes, run } = await start();
    const { id } = await notes.create({ text: "one" });
    const others = step("others", () => notes.update(id, { colour: "blue" }));
    const result = await run(updateEntityStep("note", { id }, { text: "two" }), others, fails);
    expect(result.status).toBe("compensated");
    expect(await notes.get(id)).toMatchObject({ text: "one", colour: "blue", version: 4 });
  });

  it("are restored with a record that a compensation creates again", async () => {
    const { notes, run } = await start();
    const { id } = await notes.create({ text: "one" });
    await notes.update(id, { text: "two" });
    expect((await run(deleteEntityStep("note", { id }), fails)).status).toBe("compensated");
    expect(await notes.get(id)).toMatchObject({ text: "two", version: 2 });
  });

  it("do not stop a creation from being compensated after later steps changed it", async () => {
    const { notes, run } = await start();
    const made = ({ results }: StepContext) => ({ id: (results["create-note"] as { id: string }).id });
    const change = updateEntityStep("note", made, { text: "two" });
    expect((await run(createEntityStep("note", { text: "one" }), change, fails)).status).toBe("compensated");
    expect(await notes.count()).toBe(0);
  });
});

describe("If-Match of an action that is a workflow", () => {
  it("is part of its first change's statement, also if others change the record", async () => {
    const meanwhile: (() => Promise<unknown>)[] = [];
    const others = step("others", async () => void (await meanwhile.shift()?.()));
    const toRecord = ({ data }: StepContext) => ({ id: (data.params as { id: string }).id });
    const sheet = entity("sheet", { text: string })
      .versioned({ required: true })
      .rules(rules)
      .actions({
        finish: action()
          .onResource()
          .workflow([
            others,
            updateEntityStep("one", "sheet", toRecord, { text: "one" }),
            updateEntityStep("two", "sheet", toRecord, { text: "two" }),
          ]),
      });
    const api = keelson({ entities: [sheet], driver: memoryDriver(), logger: noopLogger });
    const app = await startApp(api);
    onTestFinished(app.close);
    const sheets = api.asSystem().sheet;
    const { id } = await sheets.create({ text: "new" });
    const finish = (match: string) =>
      request(app.url, "POST", `/api/sheets/${id}/finish`, { headers: { "if-match": match } });
    meanwhile.push(() => sheets.update(id, { text: "theirs" }));
    expect((await finish('"1"')).json.code).toBe("PRECONDITION_FAILED");
    expect(await sheets.get(id)).toMatchObject({ text: "theirs", version: 2 });
    expect((await finish('"2"')).status).toBe(200);
    expect(await sheets.get(id)).toMatchObject({ text: "two", version: 4 });
  });
});
