import { entity, keelson, memoryDriver, noopLogger, runWorkflow, step, string, workflow } from "keelson";
import { expect, it } from "vitest";

it("a workflow of an app that has not started is refused with a solution", async () => {
  const note = entity("note", { text: string }).rules({ read: ["everyone"] });
  const api = keelson({ entities: [note], driver: memoryDriver(), logger: noopLogger });
  const flow = workflow([step("one", async () => ({ done: true }))]);
  await expect(runWorkflow(flow, { resolve: api.resolve, user: { id: "ann" } })).rejects.toThrow(
    "The app has not started yet; await api.ready first",
  );
  await api.ready;
  expect(await runWorkflow(flow, { resolve: api.resolve, user: { id: "ann" } })).toMatchObject({ success: true });
  await api.close();
});
