import { createPlugin, entity, memoryDriver, type Plugin, string } from "keelson";
import { createFakeKernel, type FakeKernel } from "keelson/testing";
import { afterEach, describe, expect, it } from "vitest";
import { type BatchOptions, batch } from "../../../src/plugins/batch/index.ts";

const note = entity("note", { text: string }).build();

/** One route that changes records, as another plugin would add it. */
const writer = (): Plugin =>
  createPlugin({
    id: "acme/writer",
    setup: ({ routes }) =>
      routes.add({
        method: "POST",
        path: "/notes",
        entity: note,
        action: "create",
        transactional: true,
        handler: async ({ scope, body }) => {
          const data = (await body()) as Record<string, unknown>;
          return (await scope.run({ kind: "create", entity: note, data })).records[0];
        },
      }),
  });

let kernel: FakeKernel;
afterEach(() => kernel.close());

async function boot(options?: BatchOptions): Promise<void> {
  kernel = createFakeKernel().withEntities(note).withDriver(memoryDriver());
  await kernel.use(writer());
  await kernel.use(batch(options));
}
const send = (...bodies: readonly unknown[]) =>
  kernel.call("POST", "/batch", { body: bodies.map((body) => ({ method: "POST", path: "/notes", body })) });

describe("batch alone", () => {
  it("adds one route, and no hook", async () => {
    await boot();
    expect(kernel.seen).toMatchObject({ hooks: [], services: [], requires: ["rules"], problems: [] });
    expect(kernel.seen.routes).toContain("POST /batch");
  });

  it("sends each item to the route of another plugin", async () => {
    await boot();
    const { status, body } = await send({ text: "a" }, { text: "b" });
    expect(status).toBe(200);
    expect(body).toMatchObject([{ body: { text: "a" } }, { body: { text: "b" } }]);
  });

  it("accepts no more items than its option says", async () => {
    await boot({ items: 1 });
    expect((await send({ text: "a" }, { text: "b" })).status).toBe(400);
  });

  it.each<[string, object]>([
    ["items must be a whole number from 1", { items: 0 }],
    ['there is no option "item"', { item: 1 }],
  ])("does not start: %s", async (problem, options) => {
    kernel = createFakeKernel().withEntities(note).withDriver(memoryDriver());
    await expect(kernel.use(batch(options))).rejects.toThrow(problem);
  });
});
