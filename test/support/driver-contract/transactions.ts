import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { type AnyEntity, isKeelsonError } from "../../../src/entity/index.ts";
import { compileWhere, type Driver } from "../../../src/gate/index.ts";
import { ConflictError } from "../../../src/kernel/index.ts";
import { type Database, entityNamed, everything, insert, plantBlog, rowOf } from "./database.ts";

const tagRow = (id: string): Record<string, unknown> => rowOf(entityNamed("tag"), { id, name: id });

class Rollback extends Error {}

/** Atomicity and isolation. */
export function describeTransactions(database: Database): void {
  describe("transactions", () => {
    beforeEach(() => plantBlog(database.driver));

    async function touchEverything(driver: Driver): Promise<void> {
      await driver.create("tag", tagRow("t9"));
      await driver.createMany("tag", [tagRow("t7"), tagRow("t8")]);
      await driver.update("post", { id: "p1" }, { title: "changed", meta: { changed: true } });
      await driver.updateMany("post", { published: false }, { views: 99 });
      await driver.delete("comment", { id: "m1" });
      await driver.deleteMany("post", { id: "p3" });
      await driver.link("post", "tags", "p2", ["t9"]);
      await driver.unlink("post", "tags", "p1", ["t1"]);
    }

    it("keep all changes when the work succeeds, and return its result", async () => {
      const { driver } = database;
      expect(await driver.transaction(async (tx) => touchEverything(tx).then(() => "done"))).toBe("done");
      expect(await driver.count("tag")).toBe(6);
      expect(await driver.findOne("post", { id: "p1" })).toMatchObject({ title: "changed", meta: { changed: true } });
      expect(await driver.count("post", { views: 99 })).toBe(2);
      expect((await driver.findMany("comment")).map((row) => row.id)).toEqual(["m2"]);
      expect(await driver.links("post", "tags", ["p1", "p2"])).toEqual([
        { source: "p1", target: "t2" },
        { source: "p2", target: "t9" },
      ]);
    });

    it("undo all changes when the work fails, and rethrow its error", async () => {
      const { driver } = database;
      const before = await everything(driver);
      const failure = new Rollback("changed my mind");
      const work = async (tx: Driver): Promise<never> => {
        await touchEverything(tx);
        throw failure;
      };
      await expect(driver.transaction(work)).rejects.toBe(failure);
      expect(await everything(driver)).toEqual(before);
    });

    it("undo all changes when a statement is refused", async () => {
      const { driver } = database;
      const before = await everything(driver);
      const work = async (tx: Driver): Promise<unknown> => {
        await touchEverything(tx);
        return tx.create("tag", { ...tagRow("t10"), name: "red" });
      };
      await expect(driver.transaction(work)).rejects.toBeInstanceOf(ConflictError);
      expect(await everything(driver)).toEqual(before);
    });

    it("see their own changes in every kind of read", async () => {
      await database.driver.transaction(async (tx) => {
        await touchEverything(tx);
        expect(await tx.findOne("tag", { id: "t9" })).toEqual(tagRow("t9"));
        expect(await tx.count("tag")).toBe(6);
        expect((await tx.findMany("post", { where: { tags: { name: "t9" } } })).map((row) => row.id)).toEqual(["p2"]);
        expect(await tx.links("post", "tags", ["p1"])).toEqual([{ source: "p1", target: "t2" }]);
        const streamed: unknown[] = [];
        for await (const rows of tx.stream("post", {}, 2)) streamed.push(...rows.map((row) => row.id));
        expect(streamed).toEqual(["p1", "p2", "p4", "p5"]);
        await tx.ping();
      });
    });

    it("are invisible to others before they are committed", async () => {
      const { driver } = database;
      const outside: Promise<unknown>[] = [];
      const work = async (tx: Driver): Promise<never> => {
        await touchEverything(tx);
        // Not awaited: a driver with one connection runs it after the transaction.
        outside.push(driver.count("tag"), driver.findOne("post", { id: "p1" }, { select: ["title"] }));
        await tx.count("tag");
        await sleep(30);
        throw new Rollback();
      };
      await expect(driver.transaction(work)).rejects.toBeInstanceOf(Rollback);
      expect(await Promise.all(outside)).toEqual([3, { title: "alpha" }]);
    });

    it("lock a record that is read with a lock", async () => {
      const { driver } = database;
      const outside: Promise<unknown>[] = [];
      const title = await driver.transaction(async (tx) => {
        const held = await tx.findOne("post", { id: "p1", title: "alpha" }, { lock: true });
        // Not awaited: it has to wait for the transaction.
        outside.push(driver.update("post", { id: "p1" }, { title: "changed" }));
        await sleep(30);
        expect(await tx.findOne("post", { id: "p1" })).toEqual(held);
        return held?.title;
      });
      expect(title).toBe("alpha");
      await Promise.all(outside);
      expect(await driver.findOne("post", { id: "p1" })).toMatchObject({ title: "changed" });
      expect(await driver.findOne("post", { id: "p1", title: "alpha" }, { lock: true })).toBeNull();
    });

    it("lock several records in the order of their ids, where the driver locks in order", async () => {
      const { driver } = database;
      if (driver.capabilities.locksInOrder !== true) return;
      const entity = driver.model.get("post") as AnyEntity;
      const where = compileWhere(driver.model, entity, { views: 5 });
      const waiting: Promise<unknown>[] = [];
      await driver.transaction(async (tx) => {
        await tx.update("post", { id: "p1" }, { views: 6 });
        // Not awaited: it has to wait for the transaction.
        const held = driver.transaction(async (other) => {
          const rows = await other.execute({ kind: "find", entity, where, lock: true, limit: 10 });
          const update = driver.update("post", { id: "p4" }, { views: 7 });
          waiting.push(update.then((row) => row?.views));
          await sleep(30);
          return [rows.map(({ id }) => id), (await other.findOne("post", { id: "p4" }))?.views];
        });
        waiting.push(held);
        await sleep(60);
      });
      await waiting[0];
      expect(await Promise.all(waiting)).toEqual([[["p4"], 5], 7]);
    });

    it("re-read a record that they have waited for", async () => {
      const { driver } = database;
      const outside: Promise<unknown>[] = [];
      const former = { body: { like: "SURE" } };
      await driver.transaction(async (tx) => {
        await tx.update("post", { id: "p1" }, { body: "changed" });
        // Not awaited: they have to wait for the transaction.
        outside.push(
          driver.transaction((other) => other.findOne("post", { id: "p1", ...former }, { lock: true })),
          driver.transaction((other) => other.update("post", { id: "p1", ...former }, { views: 7 })),
          driver.updateMany("post", former, { views: 8 }),
          driver.deleteMany("post", former),
        );
        await sleep(60);
      });
      expect(await Promise.all(outside)).toEqual([null, null, 0, 0]);
      expect(await driver.findOne("post", { id: "p1" })).toMatchObject({ body: "changed" });
    });

    it("join the surrounding transaction", async () => {
      const { driver } = database;
      const nested = async (tx: Driver): Promise<string> => {
        await tx.create("tag", tagRow("t8"));
        return tx.transaction(async (inner) => {
          await inner.create("tag", tagRow("t9"));
          return inner.transaction(async (innermost) => `${await innermost.count("tag")} tags`);
        });
      };
      const failing = async (tx: Driver): Promise<never> => {
        await nested(tx);
        throw new Rollback();
      };
      await expect(driver.transaction(failing)).rejects.toBeInstanceOf(Rollback);
      expect(await driver.count("tag")).toBe(3);
      expect(await driver.transaction(nested)).toBe("5 tags");
      expect(await driver.count("tag")).toBe(5);
    });

    it("are rolled back when they exceed their time limit", async () => {
      const { driver } = database;
      const work = async (tx: Driver): Promise<void> => {
        await tx.create("tag", tagRow("t8"));
        await sleep(600);
        await tx.create("tag", tagRow("t9"));
      };
      const failure = await driver.transaction(work, { timeout: 200 }).catch((error: unknown) => error);
      expect(isKeelsonError(failure)).toBe(true);
      await sleep(600);
      expect(await driver.count("tag")).toBe(3);
      expect(await driver.create("tag", tagRow("t8"))).toEqual(tagRow("t8"));
    });

    it("refuse statements after their end", async () => {
      const { driver } = database;
      const escaped = await driver.transaction(async (tx) => tx);
      const failure = await escaped.create("tag", tagRow("t9")).catch((error: unknown) => error);
      expect(isKeelsonError(failure)).toBe(true);
      expect(await driver.count("tag")).toBe(3);
    });

    it("all finish when many run at once", async () => {
      const { driver } = database;
      const numbers = Array.from({ length: 20 }, (_, index) => index);
      const outcomes = await Promise.allSettled(
        numbers.map((number) =>
          driver.transaction(async (tx) => {
            await insert(tx, "user", [{ id: `n${number}`, name: "many", email: `n${number}@example.com` }]);
            await insert(tx, "post", [{ id: `n${number}`, title: "many", authorId: `n${number}` }]);
            if (number % 2 === 1) throw new Rollback();
          }),
        ),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(
        numbers.map((number) => (number % 2 ? "rejected" : "fulfilled")),
      );
      expect(await driver.count("user", { name: "many" })).toBe(10);
      expect(await driver.count("post", { title: "many" })).toBe(10);
    });
  });

  describe("parallel writes", () => {
    beforeEach(() => plantBlog(database.driver));
    const fifty = Array.from({ length: 50 }, (_, index) => index);

    it("of one unique value succeed once and otherwise are conflicts", async () => {
      const { driver } = database;
      const user = entityNamed("user");
      const outcomes = await Promise.allSettled(
        fifty.map((number) =>
          driver.create("user", rowOf(user, { id: `n${number}`, name: "n", email: "same@example.com" })),
        ),
      );
      const failures = outcomes
        .filter((outcome) => outcome.status === "rejected")
        .map(({ reason }) => reason as unknown);
      expect(failures.filter((failure) => !(failure instanceof ConflictError))).toEqual([]);
      expect(failures).toHaveLength(49);
      expect(failures.every((failure) => (failure as ConflictError).fields.join() === "email")).toBe(true);
      expect(await driver.count("user", { email: "same@example.com" })).toBe(1);
    });

    it.each([{ views: 0 }, { title: { like: "BETA" } }])("that compare and set succeed once: %j", async (former) => {
      const { driver } = database;
      const outcomes = await Promise.all(
        fifty.map((number) =>
          driver.update("post", { id: "p2", ...former }, { views: number + 1, title: `changed ${number}` }),
        ),
      );
      const winners = outcomes.filter((outcome) => outcome !== null);
      expect(winners).toHaveLength(1);
      expect(await driver.findOne("post", { id: "p2" })).toEqual(winners[0]);
    });

    it("that delete one record succeed once", async () => {
      const { driver } = database;
      const outcomes = await Promise.all(fifty.map(() => driver.delete("comment", { id: "m1" })));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });

    it("of one link store one link", async () => {
      const { driver } = database;
      await Promise.all(fifty.slice(0, 10).map(() => driver.link("post", "tags", "p5", ["t3", "t1"])));
      expect(await driver.links("post", "tags", ["p5"])).toEqual([
        { source: "p5", target: "t1" },
        { source: "p5", target: "t3" },
      ]);
    });
  });
}
