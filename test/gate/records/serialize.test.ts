import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { datetime, entity, json, manyToMany, string } from "../../../src/entity/index.ts";
import {
  createApp,
  createPlugin,
  type Driver,
  type FieldMask,
  type OperationScope,
  present,
  tagRecord,
} from "../../../src/gate/index.ts";
import { Reply } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";

const at = new Date("2024-05-31T12:00:00.000Z");
const event = entity("event", { at: datetime, secret: string.omit().optional(), meta: json.optional() });
const wire = { id: "e", at: at.toISOString(), meta: null, createdAt: at.toISOString(), updatedAt: at.toISOString() };

/** The response of a route that returns a value with a record; its status when that is not 200. */
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
  const kernel = createApp({
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
    ["in a JSON column", (record) => ({ ...record, meta: { list: [record] } }), { ...wire, meta: { list: [wire] } }],
    ["behind the toJSON of a function", (record) => ({ f: Object.assign(() => 1, { toJSON: () => record }) }), {}],
    ["in a Reply", (record) => new Reply(200, { record }), { record: wire }],
  ])("masks a record %s", async (_where, make, expected) => {
    expect(await answer(make)).toEqual(expected);
  });

  it("writes any text and any number of a record as JSON.stringify does", async () => {
    const texts = [
      "",
      "plain",
      'quo"te',
      "back\\slash",
      "line\nbreak",
      "\u2028",
      "é",
      "😀",
      "\u007f",
      "x".repeat(5_000),
      "\u0001",
    ];
    expect(await answer((record) => texts.map((id) => ({ ...record, id })))).toEqual(
      texts.map((id) => ({ ...wire, id })),
    );
  });

  it("writes dates, invalid dates and primitives as JSON does", async () => {
    const values = [new Date(0), new Date(Number.NaN), null, 1, "a", true];
    expect(await answer(() => values)).toEqual(["1970-01-01T00:00:00.000Z", null, null, 1, "a", true]);
  });

  it("responds with 500 for values that cannot be written", async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(await answer(() => circular)).toBe(500);
    expect(await answer(() => 1n)).toBe("1"); // as a bigint field is written
    expect(await answer(() => () => 1)).toBe(500);
  });
});

/** The response of a route whose handler has the scope and the hidden column. */
async function scoped(handler: (scope: OperationScope) => unknown, entities = [event]): Promise<unknown> {
  const route = createPlugin({
    id: "route",
    provides: ["omit"],
    setup: ({ routes }) =>
      routes.add({ method: "GET", path: "/raw", action: "raw", handler: ({ scope }) => handler(scope) }),
  });
  const kernel = createApp({
    entities,
    driver: memoryDriver({ event: [{ id: "e", at, secret: "canary", createdAt: at, updatedAt: at }] }),
    plugins: [route],
    logger: recordingLogger(),
  });
  const { status, body } = await kernel.handle({ method: "GET", url: "/raw", headers: {} });
  await kernel.close();
  return status === 200 ? JSON.parse(body as string) : status;
}

describe("the driver of a scope", () => {
  it.each<[string, (driver: Driver) => unknown]>([
    ["findOne", (driver) => driver.findOne("event", { id: "e" })],
    ["findMany", async (driver) => (await driver.findMany(event))[0]],
    ["update", (driver) => driver.update(event.build(), { id: "e" }, { secret: "other", updatedAt: at })],
    [
      "create",
      async (driver) => {
        await driver.delete("event", { id: "e" });
        return driver.create("event", { id: "e", at, secret: "canary", createdAt: at, updatedAt: at });
      },
    ],
    [
      "stream",
      async (driver) => {
        for await (const rows of driver.stream("event")) return rows[0];
      },
    ],
    ["a transaction", (driver) => driver.transaction((inner) => inner.findOne("event", { id: "e" }))],
  ])("returns records of %s that are masked in the response", async (_what, read) => {
    expect(await scoped(({ driver }) => read(driver))).toEqual(wire);
    expect(await scoped((scope) => scope.transaction(({ driver }) => Promise.resolve(read(driver))))).toEqual(wire);
    expect(await scoped(({ services }) => read(services.resolve("driver")))).toEqual(wire);
  });

  it("passes other calls through", async () => {
    const answer = await scoped(async ({ driver }) => {
      await driver.ping();
      await driver.createMany("event", [{ id: "f", at, secret: "s", createdAt: at, updatedAt: at }]);
      await driver.updateMany("event", { id: "f" }, { secret: "t" });
      const counts = [await driver.count("event"), await driver.count("event", { secret: "t" })];
      const missing = await driver.findOne("event", { id: "none" });
      const gone = await driver.deleteMany("event", { id: "f" });
      const { name, capabilities, schema } = driver;
      return { counts, missing, gone, name, durable: capabilities.durable, schema };
    });
    expect(answer).toEqual({ counts: [2, 1], missing: null, gone: 1, name: "memory", durable: false });
  });

  it("reads and writes links", async () => {
    const tag = entity("tag", { name: string, posts: manyToMany(() => post) }).timestamps(false);
    const post = entity("post", { title: string, tags: manyToMany(() => tag) }).timestamps(false);
    const answer = await scoped(
      async ({ driver }) => {
        await driver.create("tag", { id: "t", name: "T" });
        await driver.create("post", { id: "p", title: "P" });
        await driver.link("post", "tags", "p", ["t"]);
        const links = await driver.links("post", "tags", ["p"]);
        await driver.unlink("post", "tags", "p", ["t"]);
        return [links, await driver.links("post", "tags", ["p"])];
      },
      [event, tag, post] as never,
    );
    expect(answer).toEqual([[{ source: "p", target: "t" }], []]);
  });
});

describe("present", () => {
  it("keeps two entities with the same mask apart", () => {
    const mask: FieldMask = {
      readable: new Set(["id", "name", "title"]),
      writable: new Set(),
      filterable: new Set(),
      sortable: new Set(),
    };
    const scope = { access: { mask: () => mask }, state: {} } as unknown as OperationScope;
    const one = entity("one", { name: string }).build();
    const two = entity("two", { title: string }).build();
    const records = [tagRecord(one, { id: "1", name: "n" }), tagRecord(two, { id: "2", title: "t" })];
    expect(present(records, scope, true)).toEqual([
      { id: "1", name: "n" },
      { id: "2", title: "t" },
    ]);
  });
});
