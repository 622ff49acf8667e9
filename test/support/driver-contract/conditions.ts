import { describe, expect, it } from "vitest";
import type { Where } from "../../../src/gate/index.ts";
import { BadRequestError } from "../../../src/kernel/index.ts";
import { type Database, everything, withBlogToRead } from "./database.ts";

const at = (text: string): Date => new Date(text);
const ALL = ["p1", "p2", "p3", "p4", "p5"];

type Case = readonly [where: Where, ids: readonly string[]];

/** Conditions on posts of the blog, and the posts that satisfy them. */
const POSTS: Readonly<Record<string, readonly Case[]>> = {
  "nothing at all": [
    [{}, ALL],
    [{ AND: [] }, ALL],
    [{ OR: [] }, []],
    [{ NOT: {} }, []],
    [{ NOT: [] }, ALL],
    [{ NOT: { OR: [] } }, ALL],
  ],
  eq: [
    [{ id: "p3" }, ["p3"]],
    [{ title: "alpha" }, ["p1"]],
    [{ title: { eq: "alpha" } }, ["p1"]],
    [{ title: "Alpha" }, []],
    [{ body: "" }, ["p5"]],
    [{ body: "%" }, []],
    [{ views: 5 }, ["p1", "p4"]],
    [{ rating: 2.5 }, ["p3", "p5"]],
    [{ published: true }, ["p1", "p3", "p5"]],
    [{ published: false }, ["p2", "p4"]],
    [{ status: "draft" }, ["p2", "p4"]],
    [{ publishedAt: at("2024-01-01T00:00:00.001Z") }, ["p1"]],
    [{ authorId: "u1" }, ["p1", "p2", "p5"]],
    [{ editorId: { eq: null } }, ["p2", "p4"]],
    [{ views: 5, published: true }, ["p1"]],
  ],
  "ne, which null satisfies": [
    [{ views: { ne: 5 } }, ["p2", "p3", "p5"]],
    [{ rating: { ne: 2.5 } }, ["p1", "p2", "p4"]],
    [{ editorId: { ne: "u1" } }, ["p1", "p2", "p4"]],
    [{ body: { ne: null } }, ["p1", "p3", "p4", "p5"]],
    [{ publishedAt: { ne: at("2024-01-01T00:00:00.001Z") } }, ["p2", "p3", "p4", "p5"]],
  ],
  "gt, gte, lt and lte, which null never satisfies": [
    [{ views: { gt: 5 } }, ["p5"]],
    [{ views: { gte: 5 } }, ["p1", "p4", "p5"]],
    [{ views: { lt: 0 } }, ["p3"]],
    [{ views: { lte: 0 } }, ["p2", "p3"]],
    [{ views: { gte: 0, lt: 10 } }, ["p1", "p2", "p4"]],
    [{ rating: { gt: 1.5 } }, ["p3", "p5"]],
    [{ rating: { lt: 1 } }, ["p4"]],
    [{ publishedAt: { gt: at("2024-01-01T00:00:00.001Z") } }, ["p3"]],
    [{ publishedAt: { lte: at("2024-01-01T00:00:00.001Z") } }, ["p1", "p5"]],
    [{ title: { gt: "beta" } }, ["p3", "p5"]],
    [{ title: { lte: "alphabet" } }, ["p1", "p4"]],
    [{ id: { gt: "p3" } }, ["p4", "p5"]],
    [{ editorId: { gte: "u2" } }, ["p1"]],
  ],
  "in and nin": [
    [{ views: { in: [0, 10] } }, ["p2", "p5"]],
    [{ views: [0, 10] }, ["p2", "p5"]],
    [{ id: ["p1", "p1", "nope"] }, ["p1"]],
    [{ id: [] }, []],
    [{ id: { nin: [] } }, ALL],
    [{ published: [false] }, ["p2", "p4"]],
    [{ status: { in: ["done", "review"] } }, ["p1", "p3", "p5"]],
    [{ publishedAt: [at("2024-01-01T00:00:00.001Z"), at("2023-12-31T23:59:59.999Z")] }, ["p1", "p5"]],
    [{ rating: [null, 1.5] }, ["p1", "p2"]],
    [{ rating: [null] }, ["p2"]],
    [{ views: { nin: [5, 0] } }, ["p3", "p5"]],
    [{ rating: { nin: [2.5] } }, ["p1", "p2", "p4"]],
    [{ rating: { nin: [null, 2.5] } }, ["p1", "p4"]],
    [{ NOT: { rating: [null, 2.5] } }, ["p1", "p4"]],
  ],
  null: [
    [{ body: null }, ["p2"]],
    [{ body: { null: true } }, ["p2"]],
    [{ body: { null: false } }, ["p1", "p3", "p4", "p5"]],
    [{ NOT: { body: null } }, ["p1", "p3", "p4", "p5"]],
    [{ id: null }, []],
    [{ id: { null: false } }, ALL],
    [{ meta: null }, ["p2", "p3", "p4", "p5"]],
    [{ meta: { null: false } }, ["p1"]],
    [{ editorId: { null: true }, rating: { null: false } }, ["p4"]],
  ],
  "like, starts and ends, which ignore case and take every character literally": [
    [{ body: { like: "sure" } }, ["p1"]],
    [{ body: { like: "SNAKE_case" } }, ["p3"]],
    [{ body: { like: "" } }, ["p1", "p3", "p4", "p5"]],
    [{ body: { like: "%" } }, ["p1"]],
    [{ body: { like: "1_0" } }, []],
    [{ body: { like: "1%sure" } }, []],
    [{ body: { like: "_" } }, ["p3"]],
    [{ body: { like: "\\" } }, ["p4"]],
    [{ body: { like: "\\\\" } }, []],
    [{ body: { like: "\\_" } }, []],
    [{ body: { like: "*" } }, []],
    [{ body: { like: "[a-z]" } }, []],
    [{ body: { like: "' OR 1=1 --" } }, []],
    [{ body: { starts: "100%" } }, ["p1"]],
    [{ body: { starts: "snake" } }, ["p3"]],
    [{ body: { starts: "%" } }, []],
    [{ body: { starts: "_" } }, []],
    [{ body: { ends: "_CASE" } }, ["p3"]],
    [{ body: { ends: "%" } }, []],
    [{ body: { ends: "\\slash" } }, ["p4"]],
    [{ title: { starts: "alpha" } }, ["p1", "p4"]],
    [{ title: { ends: "ta" } }, ["p2", "p5"]],
    [{ title: { starts: "al", ends: "a" } }, ["p1"]],
    [{ status: { like: "RA" } }, ["p2", "p4"]],
    [{ NOT: { body: { like: "a" } } }, ["p1", "p2", "p5"]],
  ],
  "NOT, OR and AND": [
    [{ NOT: { views: 5 } }, ["p2", "p3", "p5"]],
    [{ NOT: { rating: 2.5 } }, ["p1", "p2", "p4"]],
    [{ NOT: { rating: { gt: 1 } } }, ["p2", "p4"]],
    [{ NOT: { rating: { gte: 1, lt: 2 } } }, ["p2", "p3", "p4", "p5"]],
    [{ NOT: { title: "alpha", views: 5 } }, ["p2", "p3", "p4", "p5"]],
    [{ NOT: [{ views: 5 }, { published: true }] }, ["p2"]],
    [{ NOT: { NOT: { rating: 2.5 } } }, ["p3", "p5"]],
    [{ NOT: { NOT: { rating: { ne: 2.5 } } } }, ["p1", "p2", "p4"]],
    [{ OR: [{ views: 0 }, { title: "gamma" }] }, ["p2", "p3"]],
    [{ published: true, OR: [{ views: 5 }, { views: 10 }] }, ["p1", "p5"]],
    [{ AND: [{ published: true }, { views: { gt: 0 } }] }, ["p1", "p5"]],
    [{ NOT: { OR: [{ views: 5 }, { rating: 2.5 }] } }, ["p2"]],
    [{ NOT: { AND: [{ published: true }, { rating: 2.5 }] } }, ["p1", "p2", "p4"]],
    [
      { OR: [{ AND: [{ published: true }, { OR: [{ views: -3 }, { views: 10 }] }] }, { NOT: { views: { gte: 0 } } }] },
      ["p3", "p5"],
    ],
  ],
  "a to-one relation": [
    [{ author: { name: "ann" } }, ["p1", "p2", "p5"]],
    [{ author: { NOT: { name: "ann" } } }, ["p3", "p4"]],
    [{ editor: { name: "ann" } }, ["p3", "p5"]],
    [{ editor: {} }, ["p1", "p3", "p5"]],
    [{ editor: null }, ["p2", "p4"]],
    [{ NOT: { editor: null } }, ["p1", "p3", "p5"]],
    [{ NOT: { editor: { name: "ann" } } }, ["p1", "p2", "p4"]],
    [{ NOT: { editor: { NOT: { name: "ann" } } } }, ["p2", "p3", "p4", "p5"]],
    [{ editor: { nickname: null } }, ["p1"]],
    [{ NOT: { editor: { nickname: "annie" } } }, ["p1", "p2", "p4"]],
    [{ author: { profile: { bio: "writer" } } }, ["p1", "p2", "p5"]],
    [{ author: { profile: { bio: null } } }, ["p3", "p4"]],
    [{ category: { parent: { name: "root" } } }, ["p3"]],
    [{ category: { parent: null } }, ["p1", "p4"]],
    [{ OR: [{ editor: { name: "bob" } }, { category: { name: "leaf" } }] }, ["p1", "p3"]],
  ],
  "a to-many relation, of which some record must match": [
    [{ comments: { text: "nice" } }, ["p1", "p3"]],
    [{ comments: {} }, ["p1", "p3"]],
    [{ NOT: { comments: {} } }, ["p2", "p4", "p5"]],
    [{ NOT: { comments: { text: "bad" } } }, ["p2", "p3", "p4", "p5"]],
    [{ comments: { NOT: { text: "nice" } } }, ["p1"]],
    [{ comments: { text: "nice", author: { name: "bob" } } }, ["p1"]],
    [{ comments: { text: "bad", author: { name: "bob" } } }, []],
    [{ comments: { author: null } }, ["p1"]],
    [{ AND: [{ comments: { text: "nice" } }, { comments: { text: "bad" } }] }, ["p1"]],
  ],
  "a manyToMany relation": [
    [{ tags: { name: "red" } }, ["p1", "p3"]],
    [{ NOT: { tags: { name: "red" } } }, ["p2", "p4", "p5"]],
    [{ tags: { name: ["red", "green"] } }, ["p1", "p3", "p4"]],
    [{ AND: [{ tags: { name: "red" } }, { tags: { name: "green" } }] }, ["p1"]],
    [{ tags: { NOT: { name: "red" } } }, ["p1", "p4"]],
    [{ tags: {} }, ["p1", "p3", "p4"]],
    [{ tags: { posts: { author: { name: "bob" } } } }, ["p1", "p3", "p4"]],
  ],
};

/** The same for other entities. */
const OTHERS: readonly (readonly [entity: string, where: Where, ids: readonly string[]])[] = [
  ["user", { posts: { published: false } }, ["u1", "u2"]],
  ["user", { posts: { comments: { text: "bad" } } }, ["u1"]],
  ["user", { NOT: { posts: {} } }, ["u3"]],
  ["user", { edited: { title: "alpha" } }, ["u2"]],
  ["user", { profile: {} }, ["u1", "u2"]],
  ["user", { profile: null }, ["u3"]],
  ["user", { profile: { bio: null } }, ["u2"]],
  ["user", { NOT: { profile: { bio: "writer" } } }, ["u2", "u3"]],
  ["tag", { posts: { author: { name: "bob" } } }, ["t1", "t2"]],
  ["tag", { NOT: { posts: {} } }, ["t3"]],
  ["category", { parent: null }, ["c1"]],
  ["category", { children: {} }, ["c1"]],
  ["category", { NOT: { children: { name: "leaf" } } }, ["c2"]],
  ["comment", { post: { tags: { name: "green" } } }, ["m1", "m2"]],
];

const inherited: Where = Object.create({ id: "p1" });
class Condition {
  readonly id = "p1";
}

/** Invalid conditions. Some database libraries would read each of them as something else. */
const REFUSED: readonly (readonly [what: string, where: unknown])[] = [
  ["an undefined value", { id: undefined }],
  ["an undefined value beside others", { id: "p1", title: undefined }],
  ["an undefined operand", { id: "p1", views: { gte: undefined } }],
  ["an undefined value in a list", { id: ["p1", undefined] }],
  ["an undefined value deeper down", { id: "p1", NOT: { OR: [{ title: undefined }] } }],
  ["an undefined value on a related record", { id: "p1", author: { name: undefined } }],
  ["an unknown field", { id: "p1", nope: 1 }],
  ["an unknown field of a related record", { id: "p1", author: { nope: 1 } }],
  ["an inherited key", inherited],
  ["an inherited operator", { id: "p1", views: Object.create({ gt: 1 }) }],
  ["an own __proto__", JSON.parse('{ "id": "p1", "__proto__": { "views": 5 } }')],
  ["an own __proto__ among operators", { id: "p1", views: JSON.parse('{ "__proto__": { "gt": 1 } }') }],
  ["the name of a method", { id: "p1", constructor: {}, toString: "x" }],
  ["an unknown operator", { id: "p1", title: { contains: "x" } }],
  ["an operator that the kind does not have", { id: "p1", published: { gt: false } }],
  ["an order on json", { id: "p1", meta: { gt: 1 } }],
  ["a path into json", { id: "p1", meta: { a: 1 } }],
  ["a value of another type", { id: "p1", views: "5" }],
  ["a number that is no integer", { id: "p1", views: 1.5 }],
  ["a number that is none", { id: "p1", rating: Number.NaN }],
  ["a date as text", { id: "p1", publishedAt: "2024-01-01T00:00:00.001Z" }],
  ["a date that does not exist", { id: "p1", publishedAt: new Date(Number.NaN) }],
  ["a word the enum does not have", { id: "p1", status: "gone" }],
  ["text that is not well formed", { id: "p1", title: "\ud800" }],
  ["text with a NUL", { id: "p1", title: { like: "a\u0000" } }],
  ["an empty condition on a field", { id: "p1", views: {} }],
  ["OR without a list", { id: "p1", OR: { views: 5 } }],
  ["a list where an object belongs", [{ id: "p1" }]],
  ["an instance of a class", new Condition()],
  ["null", null],
  ["text", "p1"],
];

/** `where` means the same on every database, also for null, case and wildcards. */
export function describeConditions(database: Database): void {
  describe("conditions", () => {
    withBlogToRead(database);

    const idsOf = async (entity: string, where: Where): Promise<unknown[]> =>
      (await database.driver.findMany(entity, { where, sort: [{ field: "id", direction: "asc" }] })).map(
        (row) => row.id,
      );

    describe.each(Object.entries(POSTS))("on %s", (_, cases) => {
      it("hold for exactly the rows they describe", async () => {
        for (const [where, ids] of cases) {
          expect.soft(await idsOf("post", where), JSON.stringify(where)).toEqual(ids);
          expect.soft(await database.driver.count("post", where), JSON.stringify(where)).toBe(ids.length);
        }
      });

      it("hold for the other rows when negated", async () => {
        for (const [where, ids] of cases) {
          const others = ALL.filter((id) => !ids.includes(id));
          expect.soft(await idsOf("post", { NOT: where }), JSON.stringify(where)).toEqual(others);
        }
      });
    });

    it("follow relations in both directions", async () => {
      for (const [entity, where, ids] of OTHERS)
        expect.soft(await idsOf(entity, where), `${entity} ${JSON.stringify(where)}`).toEqual(ids);
    });

    it.each(REFUSED)("that are %s are refused by every method, and no row changes", async (_, wrong) => {
      const { driver } = database;
      const where = wrong as Where;
      const before = await everything(driver);
      const attempts: Record<string, () => Promise<unknown>> = {
        findOne: () => driver.findOne("post", where),
        findMany: () => driver.findMany("post", { where }),
        count: () => driver.count("post", where),
        update: () => driver.update("post", where, { title: "changed" }),
        updateMany: () => driver.updateMany("post", where, { title: "changed" }),
        delete: () => driver.delete("post", where),
        deleteMany: () => driver.deleteMany("post", where),
        stream: async () => {
          for await (const rows of driver.stream("post", { where })) void rows;
        },
      };
      for (const [method, attempt] of Object.entries(attempts))
        await expect.soft(attempt(), method).rejects.toBeInstanceOf(BadRequestError);
      expect(await everything(driver)).toEqual(before);
    });
  });
}
