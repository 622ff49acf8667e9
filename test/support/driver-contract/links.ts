import { beforeEach, describe, expect, it } from "vitest";
import type { Where } from "../../../src/gate/index.ts";
import { BadRequestError } from "../../../src/kernel/index.ts";
import { type Database, insert, plantBlog } from "./database.ts";
import { refusals } from "./refusals.ts";

/** The pairs of manyToMany relations. */
export function describeLinks(database: Database): void {
  describe("links", () => {
    beforeEach(() => plantBlog(database.driver));
    const { failing, dangling } = refusals(database);

    it("are read from both sides, in order, for the requested records only", async () => {
      const { driver } = database;
      await driver.link("tag", "posts", "t3", ["p5", "p2"]);
      expect(await driver.links("tag", "posts", ["t3"])).toEqual([
        { source: "t3", target: "p2" },
        { source: "t3", target: "p5" },
      ]);
      expect(await driver.links("post", "tags", ["p2", "p1", "nope"])).toEqual([
        { source: "p1", target: "t1" },
        { source: "p1", target: "t2" },
        { source: "p2", target: "t3" },
      ]);
      expect(await driver.links("post", "tags", [])).toEqual([]);
    });

    it("are read only with records of the other end that satisfy a condition", async () => {
      const { driver } = database;
      const pairs = (where: Where) => driver.links("post", "tags", ["p1", "p3", "p4"], { where });
      expect(await pairs({ name: "green" })).toEqual([
        { source: "p1", target: "t2" },
        { source: "p4", target: "t2" },
      ]);
      expect(await pairs({ posts: { title: "gamma" }, NOT: { id: "t2" } })).toEqual([
        { source: "p1", target: "t1" },
        { source: "p3", target: "t1" },
      ]);
      expect(await pairs({ name: "nothing" })).toEqual([]);
      expect(await pairs({ name: { like: "NOTHING%" } })).toEqual([]);
      expect(await pairs({ name: { in: [] } })).toEqual([]);
      await expect(pairs({ nonsense: 1 })).rejects.toBeInstanceOf(BadRequestError);
    });

    it("are read up to a limit, which counts those that satisfy the condition", async () => {
      const { driver } = database;
      const ids = ["p1", "p3", "p4"];
      const all = await driver.links("post", "tags", ids);
      expect(await driver.links("post", "tags", ids, { limit: 4 })).toEqual(all);
      expect(await driver.links("post", "tags", ids, { limit: 0 })).toEqual([]);
      const some = await driver.links("post", "tags", ids, { limit: 3 });
      expect(some).toHaveLength(3);
      expect(all).toEqual(expect.arrayContaining(some));
      expect(await driver.links("post", "tags", ids, { where: { name: "red" }, limit: 2 })).toEqual([
        { source: "p1", target: "t1" },
        { source: "p3", target: "t1" },
      ]);
    });

    it("can be very many", async () => {
      const { driver } = database;
      const numbers = Array.from({ length: 1_200 }, (_, index) => String(index).padStart(4, "0"));
      const tags = numbers.map((number) => `n${number}`);
      const posts = numbers.slice(0, 600).map((number) => `q${number}`);
      await insert(
        driver,
        "tag",
        tags.map((id) => ({ id, name: id })),
      );
      await insert(
        driver,
        "post",
        posts.map((id) => ({ id, title: id, authorId: "u1" })),
      );
      for (const id of ["p5", "p2"]) await driver.link("post", "tags", id, tags);
      await driver.link("tag", "posts", "n0007", posts);
      const linked = (id: string) => tags.map((target) => ({ source: id, target }));
      expect(await driver.links("post", "tags", ["p5", "p2"])).toEqual([...linked("p2"), ...linked("p5")]);
      expect(await driver.links("post", "tags", ["p5", "p2"], { limit: 2_300 })).toHaveLength(2_300);
      expect(await driver.links("post", "tags", ["p5", ...posts], { where: { id: "n0007" } })).toEqual(
        ["p5", ...posts].map((source) => ({ source, target: "n0007" })),
      );
      expect(await driver.links("post", "tags", posts, { limit: 550 })).toHaveLength(550);
      await driver.unlink("post", "tags", "p5", tags);
      await failing(() => driver.link("post", "tags", "p5", [...tags, "nope"]));
      expect(await driver.links("post", "tags", ["p5"])).toEqual([]);
    });

    it("can be added twice without an error", async () => {
      const { driver } = database;
      await driver.link("post", "tags", "p1", ["t1", "t3", "t3"]);
      await driver.link("post", "tags", "p1", ["t1", "t2", "t3"]);
      await driver.link("post", "tags", "p1", []);
      expect((await driver.links("post", "tags", ["p1"])).map((pair) => pair.target)).toEqual(["t1", "t2", "t3"]);
      await driver.unlink("post", "tags", "p1", ["t1", "t3", "nope"]);
      await driver.unlink("post", "tags", "p1", ["t1", "t3"]);
      await driver.unlink("post", "tags", "nope", ["t1"]);
      await driver.unlink("post", "tags", "p1", []);
      expect(await driver.links("post", "tags", ["p1", "p3"])).toEqual([
        { source: "p1", target: "t2" },
        { source: "p3", target: "t1" },
      ]);
      await driver.unlink("tag", "posts", "t2", ["p1"]);
      expect(await driver.links("post", "tags", ["p1"])).toEqual([]);
    });

    it("between records of one entity have a direction", async () => {
      const { driver } = database;
      await driver.link("user", "friends", "u1", ["u2", "u3"]);
      await driver.link("user", "friends", "u3", ["u3"]);
      expect(await driver.links("user", "friends", ["u1", "u2", "u3"])).toEqual([
        { source: "u1", target: "u2" },
        { source: "u1", target: "u3" },
        { source: "u3", target: "u3" },
      ]);
      const found = await driver.findMany("user", { where: { friends: { name: "cleo" } }, select: ["id"] });
      expect(found).toEqual([{ id: "u1" }, { id: "u3" }]);
      await driver.unlink("user", "friends", "u1", ["u2"]);
      expect(await driver.count("user", { friends: { name: "bob" } })).toBe(0);
      const friends = await driver.links("user", "friends", ["u1", "u3"], { where: { id: "u3" }, limit: 5 });
      expect(friends).toEqual([
        { source: "u1", target: "u3" },
        { source: "u3", target: "u3" },
      ]);
    });

    it("to a record that does not exist are refused, all of them", async () => {
      const { driver } = database;
      expect(await dangling(() => driver.link("post", "tags", "p2", ["t1", "nope"]))).toEqual(["tagsIds"]);
      await failing(() => driver.link("post", "tags", "nope", ["t1"]));
      await failing(() => driver.link("post", "comments", "p1", ["m1"]));
    });
  });
}
