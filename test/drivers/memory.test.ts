import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import { ConfigurationError, createModel, type EntityLike, entity, json, string } from "../../src/entity/index.ts";
import type { Driver, Row } from "../../src/gate/index.ts";
import { noopLogger } from "../../src/kernel/index.ts";
import { testDriver } from "../support/driver-contract.ts";
import { fixtureEntities } from "../support/entities.ts";

async function connected(driver: Driver, entities: readonly EntityLike[] = fixtureEntities): Promise<Driver> {
  await driver.connect({ model: createModel(entities), log: noopLogger, production: false });
  return driver;
}

const SAMPLE = {
  id: "s1",
  string: "s",
  text: "t",
  email: "a@example.com",
  int: 1,
  float: 1.5,
  bool: true,
  datetime: new Date("2024-05-31T12:00:00.123Z"),
  json: {},
  enum: "low",
};

testDriver("memory", async (entities) => {
  const driver = await connected(memoryDriver(), entities);
  return { driver, close: () => driver.disconnect() };
});

describe("the memory driver", () => {
  const names = (rows: readonly Row[]): unknown[] => rows.map((row) => row.name);

  it("refuses everything before it is connected, and after it is disconnected", async () => {
    const driver = memoryDriver();
    const attempts = (): Promise<unknown>[] => [
      driver.ping(),
      driver.findOne("tag", { id: "t1" }),
      driver.findMany("tag"),
      driver.count("tag"),
      driver.create("tag", { id: "t1", name: "red" }),
      driver.createMany("tag", []),
      driver.update("tag", { id: "t1" }, {}),
      driver.updateMany("tag", { id: "t1" }, {}),
      driver.delete("tag", { id: "t1" }),
      driver.deleteMany("tag", { id: "t1" }),
      driver.links("post", "tags", []),
      driver.link("post", "tags", "p1", []),
      driver.unlink("post", "tags", "p1", []),
      driver.transaction(async () => "never"),
      driver.stream("tag")[Symbol.asyncIterator]().next(),
    ];
    for (const attempt of attempts()) await expect.soft(attempt).rejects.toBeInstanceOf(ConfigurationError);
    await connected(driver);
    await driver.disconnect();
    for (const attempt of attempts()) await expect.soft(attempt).rejects.toBeInstanceOf(ConfigurationError);
  });

  it("declares its capabilities", async () => {
    const driver = await connected(memoryDriver());
    expect(driver.name).toBe("memory");
    expect(driver.capabilities).toEqual({
      aggregates: true,
      concurrentTransactions: false,
      conditionalInserts: true,
      durable: false,
      sortsRelated: true,
    });
    expect(driver.schema).toBeUndefined();
  });

  it("keeps its rows and links when it is connected again, also for other definitions", async () => {
    const driver = await connected(memoryDriver({ tag: [{ id: "t1", name: "red" }] }));
    await driver.delete("tag", { id: "t1" });
    await driver.create("tag", { id: "t2", name: "green" });
    await driver.disconnect();
    await connected(
      driver,
      fixtureEntities.filter(({ name }) => name !== "sample"),
    );
    expect(names(await driver.findMany("tag"))).toEqual(["green"]);
    await expect(driver.create("tag", { id: "t3", name: "green" })).rejects.toMatchObject({ fields: ["name"] });
  });

  it("uses its arguments as they are at the time of the call", async () => {
    const driver = await connected(memoryDriver());
    const row = { id: "t1", name: "red" };
    const where: Record<string, string> = { id: "t1" };
    const created = driver.create("tag", row);
    row.name = "changed";
    const updated = driver.update("tag", where, row);
    where.id = "t2";
    row.name = "changed again";
    expect(await created).toEqual({ id: "t1", name: "red" });
    expect(await updated).toEqual({ id: "t1", name: "changed" });
  });

  it.each([
    ["a value of another type", { string: 1 }],
    ["text that no database stores", { string: "\u0000" }],
    ["half a surrogate pair", { string: "\ud800" }],
    ["a number that is no integer", { int: 1.5 }],
    ["an integer of more than 32 bits", { int: 2 ** 31 }],
    ["a number that is none", { float: Number.NaN }],
    ["a date as text", { datetime: "2024-01-01T00:00:00Z" }],
    ["a date that does not exist", { datetime: new Date(Number.NaN) }],
    ["what JSON cannot say", { json: () => 1 }],
  ])("refuses %s with a DatabaseError", async (_, values) => {
    const driver = await connected(memoryDriver({ sample: [SAMPLE] }));
    await expect(driver.update("sample", { id: "s1" }, values)).rejects.toMatchObject({ code: "DATABASE_ERROR" });
  });

  it("refuses to give a record another id", async () => {
    const driver = await connected(memoryDriver({ tag: [{ id: "t1", name: "red" }] }));
    await expect(driver.update("tag", { id: "t1" }, { id: "t2" })).rejects.toMatchObject({ code: "DATABASE_ERROR" });
    expect(await driver.update("tag", { id: "t1" }, { id: "t1", name: "green" })).toEqual({ id: "t1", name: "green" });
  });

  it("runs transactions and writes one after the other, and reads at once", async () => {
    const driver = await connected(memoryDriver({ tag: [{ id: "t1", name: "0" }] }));
    const increment = (inside: Driver): Promise<unknown> =>
      inside.findOne("tag", { id: "t1" }).then(async (row) => {
        await Promise.resolve();
        return inside.update("tag", { id: "t1" }, { name: String(Number(row?.name) + 1) });
      });
    const written = Promise.all(Array.from({ length: 20 }, () => driver.transaction(increment)));
    const late = driver.update("tag", { id: "t1" }, { name: "after" });
    expect(names(await driver.findMany("tag"))).toEqual(["0"]);
    expect((await written).at(-1)).toMatchObject({ name: "20" });
    expect(await late).toMatchObject({ name: "after" });
  });

  describe("a memory driver with a seed", () => {
    it("stores it when it is connected, in any order of references", async () => {
      const driver = await connected(
        memoryDriver({
          comment: [{ text: "first", postId: "post-0001" }],
          post: [
            { title: "one", authorId: "ann", tagsIds: ["t1"] },
            { title: "two", authorId: "ann", views: 3 },
          ],
          category: [
            { id: "leaf", name: "leaf", parentId: "root" },
            { id: "root", name: "root" },
          ],
          tag: [{ id: "t1", name: "red" }],
          user: [{ id: "ann", name: "ann", email: "ann@example.com" }],
        }),
      );
      const [one, two] = await driver.findMany("post");
      expect(one).toMatchObject({
        id: "post-0001",
        title: "one",
        views: 0,
        published: false,
        status: "draft",
        body: null,
      });
      expect(one?.createdAt).toBeInstanceOf(Date);
      expect(one?.updatedAt).toBeInstanceOf(Date);
      expect(two).toMatchObject({ id: "post-0002", views: 3 });
      expect(await driver.findMany("comment")).toMatchObject([{ id: "comment-0001", text: "first" }]);
      expect(await driver.links("tag", "posts", ["t1"])).toEqual([{ source: "t1", target: "post-0001" }]);
    });

    it("fills in the values that Keelson would have set", async () => {
      const ticket = entity("ticket", {
        code: string.default(() => "made"),
        tags: json.default(["literal"]),
        note: string.optional(),
      }).versioned();
      const driver = await connected(memoryDriver({ ticket: [{}, { code: "given", version: 7 }] }), [ticket]);
      expect(await driver.findMany("ticket")).toMatchObject([
        { id: "ticket-0001", code: "made", tags: ["literal"], note: null, version: 1 },
        { id: "ticket-0002", code: "given", version: 7 },
      ]);
    });

    it("rethrows an error of a default", async () => {
      const failure = new RangeError("no code left");
      const failing = (): never => {
        throw failure;
      };
      const ticket = entity("ticket", { code: string.default(failing) });
      await expect(connected(memoryDriver({ ticket: [{}] }), [ticket])).rejects.toBe(failure);
    });

    it("does not change it, and is not affected by later changes of it", async () => {
      const seed = { sample: [{ ...SAMPLE, json: { list: [1] } }] };
      const driver = await connected(memoryDriver(seed));
      seed.sample[0]?.json.list.push(2);
      expect(await driver.findOne("sample", { id: "s1" }, { select: ["json"] })).toEqual({ json: { list: [1] } });
    });

    it.each<[string, Record<string, Row[]>, RegExp]>([
      ["an entity that does not exist", { nope: [{ id: "1" }] }, /names "nope"/],
      ["a column that does not exist", { tag: [{ id: "t1", name: "red", nope: 1 }] }, /seed of tag .* "nope"/],
      ["a required value that is missing", { tag: [{ id: "t1" }] }, /tag\.name needs a value/],
      [
        "a repeated id",
        {
          tag: [
            { id: "t1", name: "a" },
            { id: "t1", name: "b" },
          ],
        },
        /two rows with the id "t1"/,
      ],
      ["a repeated unique value", { tag: [{ name: "a" }, { name: "a" }] }, /does not fit: .* \(name\)/],
      ["a reference to nothing", { category: [{ name: "a", parentId: "b" }] }, /does not fit: .* \(parentId\)/],
      [
        "a link to nothing",
        { user: [{ id: "u1", name: "a", email: "a@example.com", friendsIds: ["u2"] }] },
        /\(friendsIds\)/,
      ],
    ])("refuses a seed with %s", async (_, seed, message) => {
      const failure = await connected(memoryDriver(seed)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConfigurationError);
      expect((failure as Error).message).toMatch(message);
    });
  });
});
