import { beforeEach, describe, expect, it } from "vitest";
import { type Database, plantBlog } from "./database.ts";
import { refusals } from "./refusals.ts";

/** The pairs of manyToMany relations. */
export function describeLinks(database: Database): void {
  describe("links", () => {
    beforeEach(() => plantBlog(database.driver));
    const { failing, dangling } = refusals(database);

    it("are seen from both sides, ordered, and for the asked records only", async () => {
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

    it("can be repeated", async () => {
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
    });

    it("to a record that does not exist are refused, all of them", async () => {
      const { driver } = database;
      expect(await dangling(() => driver.link("post", "tags", "p2", ["t1", "nope"]))).toEqual(["tagsIds"]);
      await failing(() => driver.link("post", "tags", "nope", ["t1"]));
      await failing(() => driver.link("post", "comments", "p1", ["m1"]));
    });
  });
}
