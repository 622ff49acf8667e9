import { describe, expect, it } from "vitest";
import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../../src/entity/index.ts";
import {
  ALWAYS,
  ByteBudget,
  compileWhere,
  type Driver,
  type Find,
  type FindManyQuery,
  type Row,
  type SortKey,
  totalOrder,
  type Where,
  withMiddleware,
} from "../../../src/gate/index.ts";
import { post } from "../entities.ts";
import { type Database, insert, withBlogToRead } from "./database.ts";

const sorted = (text: string): readonly SortKey[] =>
  totalOrder(
    text.split(",").map((key) => ({ field: key.replace("-", ""), direction: key.startsWith("-") ? "desc" : "asc" })),
  );

const ORDERS: readonly (readonly [keys: string, ids: string])[] = [
  ["id", "p1 p2 p3 p4 p5"],
  ["-id", "p5 p4 p3 p2 p1"],
  ["title", "p1 p4 p2 p5 p3"],
  ["-title", "p3 p5 p2 p4 p1"],
  ["views", "p3 p2 p1 p4 p5"],
  ["-views", "p5 p1 p4 p2 p3"],
  ["rating", "p2 p4 p1 p3 p5"],
  ["-rating", "p3 p5 p1 p4 p2"],
  ["publishedAt", "p2 p4 p5 p1 p3"],
  ["-publishedAt", "p3 p1 p5 p2 p4"],
  ["published", "p2 p4 p1 p3 p5"],
  ["status", "p1 p5 p2 p4 p3"],
  ["editorId", "p2 p4 p3 p5 p1"],
  ["-editorId,views", "p1 p3 p5 p2 p4"],
  ["-published,-rating,title", "p5 p3 p1 p4 p2"],
  ["views,-id", "p3 p2 p4 p1 p5"],
];

/** Finding, ordering, paging, selecting, streaming. */
export function describeReads(database: Database): void {
  describe("reads", () => {
    const isWriting = withBlogToRead(database);

    const ids = async (query: FindManyQuery): Promise<string> =>
      (await database.driver.findMany("post", query)).map((row) => row.id).join(" ");

    it("take the entity as a name, a builder or a definition", async () => {
      const { driver } = database;
      expect(await driver.count("post")).toBe(5);
      expect(await driver.count(post)).toBe(5);
      expect(await driver.count(post.build())).toBe(5);
      const failure = await driver.count("nope").catch((error: unknown) => error);
      expect(isKeelsonError(failure)).toBe(true);
    });

    it("return one record, the first by id, or null", async () => {
      const { driver } = database;
      expect((await driver.findOne("post", { views: 5 }))?.id).toBe("p1");
      expect((await driver.findOne("post", {}))?.id).toBe("p1");
      expect(await driver.findOne("post", { id: "nope" })).toBeNull();
    });

    it("are ordered by id by default", async () => {
      isWriting();
      await insert(database.driver, "post", [{ id: "p0", title: "zero", authorId: "u1" }]);
      expect(await ids({})).toBe("p0 p1 p2 p3 p4 p5");
    });

    it.each(ORDERS)("sorted by %s put null first and break ties by id", async (keys, expected) => {
      expect(await ids({ sort: sorted(keys) })).toBe(expected);
    });

    it("apply skip and take", async () => {
      const sort = sorted("id");
      expect(await ids({ sort, limit: 2 })).toBe("p1 p2");
      expect(await ids({ sort, limit: 2, offset: 2 })).toBe("p3 p4");
      expect(await ids({ sort, limit: 2, offset: 4 })).toBe("p5");
      expect(await ids({ sort, offset: 3 })).toBe("p4 p5");
      expect(await ids({ sort, offset: 9 })).toBe("");
      expect(await ids({ sort, limit: 0 })).toBe("");
      expect(await ids({ sort, where: { published: true }, limit: 1, offset: 1 })).toBe("p3");
    });

    it("return only the selected columns", async () => {
      const { driver } = database;
      expect(await driver.findOne("post", { id: "p1" }, { select: ["title", "rating"] })).toEqual({
        title: "alpha",
        rating: 1.5,
      });
      expect(await driver.findMany("post", { where: { id: "p2" }, select: ["body", "id"] })).toEqual([
        { id: "p2", body: null },
      ]);
      const byViews = await driver.findMany("post", { select: ["title"], sort: sorted("views"), limit: 1 });
      expect(byViews).toEqual([{ title: "gamma" }]);
    });

    it.each([
      ["a sort key that is no column", { sort: [{ field: "nope", direction: "asc" }] }],
      ["a selected name that is no column", { select: ["nope"] }],
      ["a sort key that is a relation", { sort: [{ field: "author", direction: "asc" }] }],
      ["a selected name that is a relation", { select: ["author"] }],
    ] as const)("refuse %s, without listing the names that exist", async (_, query) => {
      const failure = await database.driver.findMany("post", query).catch((error: unknown) => error);
      expect(isKeelsonError(failure)).toBe(true);
      expect((failure as Error).message).not.toMatch(/publishedAt|rating/);
    });

    it("take conditions on related records that every related record meets", async () => {
      const all = { NOT: { id: { eq: "u1", in: [] } } };
      for (const [relation, found] of [
        ["author", await ids({ where: { author: {} } })],
        ["tags", await ids({ where: { tags: {} } })],
        ["comments", await ids({ where: { comments: {} } })],
      ] as const) {
        expect(await ids({ where: { [relation]: all } })).toBe(found);
        expect(await ids({ where: { [relation]: all, id: { in: ["p1", "p2", "p3", "p4", "p5"] } } })).toBe(found);
      }
    });

    it("count what they would find", async () => {
      const { driver } = database;
      expect(await driver.count("post")).toBe(5);
      expect(await driver.count("post", { published: true })).toBe(3);
      expect(await driver.count("post", { id: "nope" })).toBe(0);
    });

    it("stream every row once, in order, in batches of the requested size", async () => {
      isWriting();
      const { driver } = database;
      const many = Array.from({ length: 23 }, (_, index) => ({
        id: `s${String(index).padStart(2, "0")}`,
        title: "stream",
        views: index % 4,
        rating: index % 3 === 0 ? null : index % 5,
        authorId: "u3",
      }));
      await insert(driver, "post", many);
      const where = { authorId: "u3" };
      const collect = async (query: FindManyQuery, size?: number): Promise<{ rows: Row[]; sizes: number[] }> => {
        const rows: Row[] = [];
        const sizes: number[] = [];
        for await (const batch of driver.stream("post", query, size)) {
          rows.push(...batch);
          sizes.push(batch.length);
        }
        return { rows, sizes };
      };
      for (const keys of ["id", "-id", "rating,-views", "-rating", "-views,rating"]) {
        const sort = sorted(keys);
        const { rows, sizes } = await collect({ where, sort }, 5);
        expect(rows, keys).toEqual(await driver.findMany("post", { where, sort }));
        expect(sizes, keys).toEqual([5, 5, 5, 5, 3]);
      }
      expect((await collect({ where })).rows).toHaveLength(23);
      expect((await collect({ where, limit: 7 }, 5)).sizes).toEqual([5, 2]);
      const skipped = await collect({ where, offset: 20 }, 2);
      expect(skipped.rows.map((row) => row.id)).toEqual(["s20", "s21", "s22"]);
      const titles = await collect({ where, select: ["title"], sort: sorted("-views"), limit: 3 }, 2);
      expect(titles.rows).toEqual([{ title: "stream" }, { title: "stream" }, { title: "stream" }]);
      expect((await collect({ where: { id: "nope" } })).rows).toEqual([]);
    });

    it("end when their byte limit is used up, after at least one row, with whole values", async () => {
      isWriting();
      const { driver } = database;
      const body = "long ".repeat(400);
      const many = Array.from({ length: 23 }, (_, index) => ({
        id: `s${String(index).padStart(2, "0")}`,
        title: "long",
        body,
        authorId: "u3",
      }));
      await insert(driver, "post", many);
      const read = async (most: number): Promise<{ count: number; isCut: boolean }> => {
        const bytes = new ByteBudget(most);
        const query = { sort: sorted("-id"), limit: 30 };
        const rows = await driver.execute({ ...findOf(driver, { authorId: "u3" }), ...query, bytes });
        const where = { authorId: "u3" };
        expect(rows).toEqual(await driver.findMany("post", { ...query, where, limit: rows.length }));
        return { count: rows.length, isCut: bytes.isCut };
      };
      expect(await read(1)).toEqual({ count: 1, isCut: true });
      const some = await read(10_500);
      expect(some.isCut).toBe(true);
      expect([3, 4, 5]).toContain(some.count);
      expect(await read(100_000)).toEqual({ count: 23, isCut: false });
      expect(await read(10_000_000)).toEqual({ count: 23, isCut: false });
      await driver.transaction(async (inside) => {
        const bytes = new ByteBudget(1);
        const find = { ...findOf(inside, { authorId: "u3" }), limit: 30, bytes };
        expect(await inside.execute(find)).toHaveLength(1);
      });
    });

    it("return related records if the driver reads joins, and otherwise leave them out", async () => {
      const { driver } = database;
      const { model, capabilities } = driver;
      const post = model.get("post") as AnyEntity;
      const relationOf = (name: string): ResolvedRelation => model.relation(post, name) as ResolvedRelation;
      const author = relationOf("author");
      const joins = [
        { relation: author, where: compileWhere(model, author.target, { name: "ann" }) },
        { relation: relationOf("editor"), where: ALWAYS },
      ];
      const page = { sort: sorted("-views"), limit: 3 };
      const where = { id: { ne: "p5" } };
      const authors = new Map((await driver.findMany("user")).map((user) => [user.id, user]));
      const posts = await driver.findMany("post", { ...page, where });
      const expected = posts.map(({ id, authorId, editorId }) => {
        const writer = authors.get(authorId as string);
        return { id, author: writer?.name === "ann" ? writer : null, editor: authors.get(editorId as string) ?? null };
      });
      const find = { ...findOf(driver, where), ...page, select: ["id"], joins };
      if (capabilities.joins === true) expect(await driver.execute(find)).toEqual(expected);
      await driver.transaction(async (inner) => expect(inner.capabilities.joins).toBe(capabilities.joins));
      const layered = withMiddleware(driver, (statement, next) => next(statement));
      expect(layered.capabilities.joins ?? false).toBe(false);
      expect(await layered.execute(find)).toEqual(posts.map(({ id }) => ({ id })));
    });

    it("answer a ping", async () => {
      await expect(database.driver.ping()).resolves.toBeUndefined();
    });
  });
}

function findOf({ model }: Driver, where: Where): Find {
  const entity = model.get("post") as AnyEntity;
  return { kind: "find", entity, where: compileWhere(model, entity, where) };
}
