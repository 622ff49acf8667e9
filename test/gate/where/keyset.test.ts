import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import {
  ALWAYS,
  compileWhere,
  decodeCursor,
  encodeCursor,
  keysetCondition,
  type Row,
  type SortKey,
  totalOrder,
  withMiddleware,
} from "../../../src/gate/index.ts";
import { streamByKeyset } from "../../../src/gate/statement/keyset.ts";
import { BadRequestError, noopLogger } from "../../../src/kernel/index.ts";
import { randomSort } from "../../support/driver-contract/arbitraries.ts";
import { empty, entityNamed, insert, plantBlog } from "../../support/driver-contract/database.ts";
import { followCursors } from "../../support/driver-contract/properties.ts";
import { fixtureModel } from "../../support/entities.ts";
import { propertyOptions } from "../../support/properties.ts";

const post = entityNamed("post");
const driver = memoryDriver();
beforeAll(() => driver.connect({ model: fixtureModel, log: noopLogger, production: false }));
afterEach(() => empty(driver));

const ALL = { kind: "find", entity: post, where: ALWAYS } as const;
const asc = (field: string): SortKey => ({ field, direction: "asc" });
const desc = (field: string): SortKey => ({ field, direction: "desc" });

const cursorOf = (...args: Parameters<typeof encodeCursor>): string => String(encodeCursor(...args));

describe("a total order", () => {
  it("ends with the id, unless it already contains the id", () => {
    expect(totalOrder(undefined)).toEqual([asc("id")]);
    expect(totalOrder([desc("views")])).toEqual([desc("views"), asc("id")]);
    expect(totalOrder([desc("id")])).toEqual([desc("id")]);
    expect(totalOrder([desc("id"), asc("views")])).toEqual([desc("id"), asc("views")]);
  });
});

describe("a cursor", () => {
  const order = totalOrder([desc("publishedAt"), asc("rating"), asc("published")]);
  const row: Row = {
    id: "p1",
    publishedAt: new Date("2024-01-01T00:00:00.001Z"),
    rating: null,
    published: true,
    title: "not in it",
  };

  it("returns the values of its row, typed", () => {
    expect(decodeCursor(post, order, cursorOf(order, row))).toEqual([row.publishedAt, null, true, "p1"]);
  });

  it("is text that needs no escaping in a URL, and contains only its keys", () => {
    const cursor = cursorOf(order, { ...row, id: "ö/+ 😀" });
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCursor(post, order, cursor).at(-1)).toBe("ö/+ 😀");
    expect(Buffer.from(cursor, "base64url").toString()).not.toContain("not in it");
  });

  it.each<[string, (cursor: string) => string]>([
    ["another order", () => cursorOf(totalOrder([asc("publishedAt"), asc("rating"), asc("published")]), row)],
    ["fewer keys", () => cursorOf(totalOrder([desc("publishedAt")]), row)],
    ["another entity's keys", () => cursorOf([asc("nope")], { nope: 1 })],
    ["null where the column has none", () => cursorOf(order, { ...row, published: null })],
    ["a value of another type", () => cursorOf(order, { ...row, rating: true })],
    ["a date that does not exist", () => cursorOf(order, { ...row, publishedAt: "2024-02-30" })],
    ["an operator object", () => cursorOf(order, { ...row, rating: { gt: 1 } })],
    ["nothing", () => ""],
    ["no JSON", () => "not-json"],
    ["JSON that is no list", () => Buffer.from("{}").toString("base64url")],
    ["half of itself", (cursor) => cursor.slice(0, 10)],
  ])("is refused when it holds %s", (_, forge) => {
    expect(() => decodeCursor(post, order, forge(cursorOf(order, row)))).toThrow(BadRequestError);
  });
});

describe("records after a position", () => {
  it("are matched without order operators if the kind has only a few values", () => {
    expect(keysetCondition(post, [asc("published"), asc("id")], [false, "p1"])).toEqual(
      compileWhere(driver.model, post, {
        OR: [{ AND: [{ published: { in: [true] } }] }, { AND: [{ published: false }, { id: { gt: "p1" } }] }],
      }),
    );
    expect(keysetCondition(post, [desc("published"), asc("id")], [false, "p1"])).toEqual(
      compileWhere(driver.model, post, {
        OR: [{ AND: [{ published: { in: [] } }] }, { AND: [{ published: false }, { id: { gt: "p1" } }] }],
      }),
    );
  });

  it("come after null in ascending order, and null comes last in descending order", () => {
    expect(keysetCondition(post, [asc("rating"), asc("id")], [null, "p1"])).toEqual(
      compileWhere(driver.model, post, {
        OR: [{ AND: [{ rating: { null: false } }] }, { AND: [{ rating: null }, { id: { gt: "p1" } }] }],
      }),
    );
    expect(keysetCondition(post, [desc("rating"), asc("id")], [null, "p1"])).toEqual(
      compileWhere(driver.model, post, {
        OR: [{ AND: [{ rating: null }, { id: { gt: "p1" } }] }],
      }),
    );
    expect(keysetCondition(post, [desc("rating"), asc("id")], [1, "p1"])).toEqual(
      compileWhere(driver.model, post, {
        OR: [
          { AND: [{ OR: [{ rating: { lt: 1 } }, { rating: null }] }] },
          { AND: [{ rating: 1 }, { id: { gt: "p1" } }] },
        ],
      }),
    );
  });
});

describe("paging by keyset", () => {
  const rows = fc.array(
    fc.record({
      title: fc.constantFrom("a", "b", "c"),
      views: fc.integer({ min: -1, max: 1 }),
      rating: fc.option(fc.constantFrom(0.5, 1.5)),
      published: fc.boolean(),
      status: fc.constantFrom("draft", "review", "done"),
      publishedAt: fc.option(fc.constantFrom(new Date(0), new Date(1))),
      editorId: fc.option(fc.constantFrom("u1", "u2")),
    }),
    { maxLength: 25 },
  );

  it("visits each row exactly once, in order, for any sort with nulls", async () => {
    await fc.assert(
      fc.asyncProperty(rows, randomSort("post"), fc.integer({ min: 1, max: 7 }), async (list, sort, limit) => {
        await empty(driver);
        await insert(driver, "user", [
          { id: "u1", name: "a", email: "a@example.com" },
          { id: "u2", name: "b", email: "b@example.com" },
        ]);
        await insert(
          driver,
          "post",
          list.map((row, index) => ({ ...row, id: `p${(index * 7) % 26}`, authorId: "u1" })),
        );
        const all = await driver.findMany("post", { sort: totalOrder(sort) });
        expect(all).toHaveLength(list.length);
        expect(await followCursors(driver, "post", {}, sort, limit)).toEqual(all.map((row) => row.id));
      }),
      propertyOptions(300),
    );
  });

  it("is not affected by rows that appear or vanish before the position", async () => {
    await plantBlog(driver);
    const order = totalOrder([asc("views")]);
    const [first, second] = await driver.findMany("post", { sort: order, limit: 2 });
    await driver.delete("post", { id: first?.id });
    await insert(driver, "post", [{ id: "p0", title: "early", views: -9, authorId: "u1" }]);
    const where = keysetCondition(post, order, decodeCursor(post, order, cursorOf(order, second as Row)));
    expect((await driver.findMany("post", { where, sort: order })).map((row) => row.id)).toEqual(["p1", "p4", "p5"]);
  });
});

describe("streaming by keyset", () => {
  it("keeps its position when the rows it has returned change", async () => {
    await plantBlog(driver);
    const seen: unknown[] = [];
    for await (const batch of streamByKeyset(driver.execute, { ...ALL, sort: [desc("rating")], select: ["title"] }, 2))
      for (const row of batch) {
        seen.push({ ...row });
        for (const name of Object.keys(row)) row[name] = null;
      }
    expect(seen).toEqual(["gamma", "delta", "alpha", "alphabet", "beta"].map((title) => ({ title })));
  });

  it("stops reading when the consumer stops", async () => {
    await plantBlog(driver);
    let pages = 0;
    const counting = withMiddleware(driver, (statement, next) => next(statement).finally(() => pages++));
    for await (const batch of streamByKeyset(counting.execute, ALL, 1)) if (batch[0]?.id === "p2") break;
    expect(pages).toBe(2);
  });
});
