import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import { datetime, entity, string } from "../../src/entity/index.ts";
import { createKernel, createPlugin, Reply } from "../../src/kernel/index.ts";
import { recordingLogger } from "../../src/testing/recording-logger.ts";

const at = new Date("2024-05-31T12:00:00.000Z");
const event = entity("event", { at: datetime, secret: string.omit().optional() });
const wire = { id: "e", at: at.toISOString(), createdAt: at.toISOString(), updatedAt: at.toISOString() };

/** What a route answers that returns something made of a record; its status when that is not 200. */
async function answer(make: (record: Record<string, unknown>) => unknown): Promise<unknown> {
  const route = createPlugin({
    id: "route",
    provides: ["omit"],
    hooks: { "operation:authorize": (operation) => void (operation.decision.allowed = true) },
    setup({ routes, entities }) {
      routes.add({
        method: "GET",
        path: "/raw",
        action: "raw",
        entity: entities.get("event"),
        async handler({ scope }) {
          const { records } = await scope.run({ kind: "list", entity: "event" });
          return make(records[0] as Record<string, unknown>);
        },
      });
    },
  });
  const kernel = createKernel({
    entities: [event],
    driver: memoryDriver({ event: [{ id: "e", at, secret: "canary", createdAt: at, updatedAt: at }] }),
    plugins: [route],
    logger: recordingLogger(),
  });
  const { status, body } = await kernel.handle({ method: "GET", url: "/api/raw", headers: {} });
  await kernel.close();
  return status === 200 ? JSON.parse(body as string) : status;
}

describe("the serializer", () => {
  it.each<[string, (record: Record<string, unknown>) => unknown, unknown]>([
    ["itself", (record) => record, wire],
    ["spread", (record) => ({ ...record, extra: "unknown to the entity" }), wire],
    ["in arrays and objects", (record) => ({ list: [[record]] }), { list: [[wire]] }],
    ["in a Map", (record) => new Map([["a", record]]), { a: wire }],
    ["in a Set", (record) => new Set([record]), [wire]],
    ["behind toJSON", (record) => ({ toJSON: () => ({ record }) }), { record: wire }],
    ["in a Reply", (record) => new Reply(200, { record }), { record: wire }],
  ])("masks a record %s", async (_where, make, expected) => {
    expect(await answer(make)).toEqual(expected);
  });

  it("writes dates, odd dates and primitives as JSON does", async () => {
    const values = [new Date(0), new Date(Number.NaN), null, 1, "a", true];
    expect(await answer(() => values)).toEqual(["1970-01-01T00:00:00.000Z", null, null, 1, "a", true]);
  });

  it("answers 500 for what cannot be written", async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(await answer(() => circular)).toBe(500);
    expect(await answer(() => 1n)).toBe(500);
    expect(await answer(() => () => 1)).toBe(500);
  });
});
