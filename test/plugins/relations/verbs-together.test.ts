import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { entity, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

const everyone = ["everyone"];
const rules = { read: everyone, create: everyone, update: everyone };
const tag = entity("tag", { word: string }).timestamps(false).rules(rules);
const order = entity("order", { number: string, tags: manyToMany(() => tag) })
  .timestamps(false)
  .rules(rules);

describe.each(ALL_DATABASES)("several verbs of one manyToMany relation on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [tag, order], driver: database.driver });
    await app.api.ready;
    for (const id of ["a", "b", "c"]) await app.api.driver.create("tag", { id, word: id });
    await app.api.driver.create("order", { id: "o", number: "1" });
  });
  beforeEach(() => app.api.driver.unlink("order", "tags", "o", ["a", "b", "c"]));
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it.each<[string[], object, string[]]>([
    [["a", "b"], { tags: { connect: ["a"], set: [] } }, ["a"]],
    [["b", "c"], { tags: { set: ["b"], connect: ["a"] } }, ["a", "b"]],
    [["a", "b", "c"], { tags: { connect: ["a"], disconnect: ["a", "b"] } }, ["a", "c"]],
    [["c"], { tags: { set: ["a", "b"], disconnect: ["b"] } }, ["a"]],
    [["a"], { tagsIds: ["a", "b"], tags: { disconnect: ["a"], connect: ["c"] } }, ["b", "c"]],
  ])("have the same result each time: %j, %j", async (stored, body, result) => {
    await app.api.driver.link("order", "tags", "o", stored);
    for (let time = 0; time < 3; time++) {
      const { status } = await app.as({ id: "x" }).request("PATCH", "/api/orders/o", body);
      const pairs = await app.api.driver.links("order", "tags", ["o"]);
      expect([status, pairs.map(({ target }) => target)]).toEqual([200, result]);
    }
  });

  it("are refused with two complete lists", async () => {
    const body = { tagsIds: ["a"], tags: { set: ["b"] } };
    const { status, body: answer } = await app.as({ id: "x" }).request("PATCH", "/api/orders/o", body);
    expect([status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining("is said more than once")]);
  });
});
