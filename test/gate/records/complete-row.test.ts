import { describe, expect, it } from "vitest";
import { createPlugin, entity, int, json, memoryDriver, string } from "../../../src/index.ts";
import type { OperationScope } from "../../../src/plugin.ts";
import { createTestApp } from "../../../src/testing/index.ts";

const thing = entity("thing", {
  name: string,
  count: int.default(3),
  tags: json.default(["new"]),
  made: string.default(() => "made"),
  note: string.optional(),
});
const plain = entity("plain", { name: string }).timestamps(false);
const then = new Date("2026-01-02T03:04:05.678Z");

async function inHandler<T>(work: (scope: OperationScope) => Promise<T>): Promise<T> {
  let result: T | undefined;
  const app = createTestApp({
    entities: [thing, plain],
    driver: memoryDriver({ thing: [{ id: "old", name: "o", createdAt: then, updatedAt: then }] }),
    plugins: [
      createPlugin({
        id: "test",
        endpoints: {
          run: {
            path: "/run",
            rules: ["everyone"],
            async handler({ scope }) {
              result = await work(scope);
            },
          },
        },
      }),
    ],
  });
  expect((await app.as(null).request("GET", "/run")).status).toBe(204);
  await app.close();
  return result as T;
}

describe("the driver of handlers", () => {
  it("stores a new record with an id, datetimes, defaults and nulls for missing values", async () => {
    const [made, given, bare] = await inHandler(async ({ driver }) => [
      await driver.create("thing", { name: "a" }),
      await driver.create("thing", { id: "b", name: "b", count: 0, note: "n", createdAt: then, updatedAt: then }),
      await driver.create("plain", { name: "p" }),
    ]);
    expect(made).toMatchObject({ name: "a", count: 3, tags: ["new"], made: "made", note: null });
    expect([typeof made?.id, made?.createdAt]).toEqual(["string", expect.any(Date)]);
    expect(given).toMatchObject({ id: "b", count: 0, note: "n", createdAt: then, updatedAt: then });
    expect(Object.keys(bare ?? {}).sort()).toEqual(["id", "name"]);
  });

  it("stores many in the same way, also in transactions", async () => {
    const rows = await inHandler(async ({ driver }) => {
      await driver.transaction((inner) => inner.createMany("thing", [{ name: "x" }, { name: "y" }]));
      return driver.findMany("thing", { where: { name: { in: ["x", "y"] } } });
    });
    expect(rows.map(({ count }) => count)).toEqual([3, 3]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
  });

  it("sets updatedAt on each change, but not when a record is only locked", async () => {
    const moments = await inHandler(async ({ driver }) => [
      (await driver.update("thing", { id: "old" }, { id: "old" }))?.updatedAt,
      (await driver.update("thing", { id: "old" }, { name: "n", updatedAt: then }))?.updatedAt,
      (await driver.update("thing", { id: "old" }, { name: "m" }))?.updatedAt,
      await driver.updateMany("thing", { id: "old" }, { name: "k" }),
      (await driver.findOne("thing", { id: "old" }))?.createdAt,
    ]);
    expect(moments.slice(0, 2)).toEqual([then, then]);
    expect((moments[2] as Date).getTime()).toBeGreaterThan(then.getTime());
    expect(moments.slice(3)).toEqual([1, then]);
  });
});
