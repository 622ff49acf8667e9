import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { createPlugin, type Driver, type Plugin, type Row, withMiddleware } from "../../../src/gate/index.ts";
import { crud } from "../../../src/plugins/crud/index.ts";
import { query } from "../../../src/plugins/query/index.ts";
import { relations } from "../../../src/plugins/relations/index.ts";
import { createFakeKernel, type FakeKernel } from "../../../src/testing/fake-kernel.ts";
import { deny, library } from "../crud/library.ts";

let driver: Driver;
let kernel: FakeKernel;

async function start(...plugins: readonly Plugin[]): Promise<void> {
  driver = memoryDriver({
    user: [{ id: "ann", name: "Ann" }],
    post: [{ id: "p1", title: "First", authorId: "ann" }],
    tag: ["t1", "t2", "t3"].map((id) => ({ id, name: id })),
  });
  kernel = createFakeKernel()
    .withEntities(...library)
    .withDriver(driver);
  for (const plugin of [query(), relations(), crud(), ...plugins]) await kernel.use(plugin);
}
beforeEach(() => start());
afterEach(() => kernel.close());

const tagsOf = async (id: string): Promise<string[]> =>
  (await driver.links("post", "tags", [id])).map(({ target }) => target);
const put = (tagsIds: unknown) => kernel.call("PUT", "/posts/p1", { body: { tagsIds } });

describe("manyToMany ids", () => {
  it("link a new record", async () => {
    const { status, body } = await kernel.call("POST", "/posts", {
      body: { title: "New", authorId: "ann", tagsIds: ["t1", "t3"] },
    });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty("tagsIds");
    expect(await tagsOf((body as Row).id as string)).toEqual(["t1", "t3"]);
  });

  it("replace the earlier links, and nothing else", async () => {
    await put(["t1", "t2"]);
    expect(await tagsOf("p1")).toEqual(["t1", "t2"]);
    await put(["t3", "t2"]);
    expect(await tagsOf("p1")).toEqual(["t2", "t3"]);
    await put([]);
    expect(await tagsOf("p1")).toEqual([]);
  });

  it("leave the links unchanged when they are not sent", async () => {
    await put(["t1"]);
    await kernel.call("PUT", "/posts/p1", { body: { title: "Changed" } });
    expect(await tagsOf("p1")).toEqual(["t1"]);
  });

  it("link a record once, however often its id is sent", async () => {
    expect(await put(["t1", "t1"])).toMatchObject({ status: 200 });
    expect(await tagsOf("p1")).toEqual(["t1"]);
  });

  it("appear in the response when they are included", async () => {
    const { body } = await kernel.call("PUT", "/posts/p1", { search: "include=tags", body: { tagsIds: ["t2"] } });
    expect(body).toMatchObject({ id: "p1", tags: [{ name: "t2" }] });
  });

  it.each([[null], ["t1"], [{ id: "t1" }], [[1]], [[""]], [[null]], [["x".repeat(129)]]])(
    "refuse %j",
    async (value) => {
      expect(await put(value)).toMatchObject({
        status: 400,
        body: { code: "VALIDATION_FAILED", errors: { tagsIds: "must be a list of ids" } },
      });
    },
  );

  it("refuse more ids than a list may have", async () => {
    const ids = Array.from({ length: 1_001 }, (_, i) => `t${i}`);
    expect(await put(ids)).toMatchObject({ status: 400, body: { errors: { tagsIds: "must be at most 1000 ids" } } });
  });

  it("replace as many pairs as one write may, and no more", async () => {
    const ids = Array.from({ length: 10_001 }, (_, i) => `n${i}`);
    await driver.createMany(
      "tag",
      ids.map((id) => ({ id, name: id })),
    );
    await driver.link("post", "tags", "p1", ids);
    expect(await put([])).toMatchObject({ status: 409, body: { message: expect.stringContaining("more than 10000") } });
    expect(await tagsOf("p1")).toHaveLength(10_001);
    await kernel.call("PUT", "/posts/p1", { body: { tags: { disconnect: ["n0"] } } });
    expect(await put(["t1"])).toMatchObject({ status: 200 });
    expect(await tagsOf("p1")).toEqual(["t1"]);
  });

  it("refuse records that do not exist, and change nothing", async () => {
    await put(["t1"]);
    const answer = await kernel.call("PUT", "/posts/p1", { body: { title: "Changed", tagsIds: ["t2", "gone"] } });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: "VALIDATION_FAILED", errors: { tagsIds: 'tag "gone" does not exist' } },
    });
    expect(await tagsOf("p1")).toEqual(["t1"]);
    expect(await driver.findOne("post", { id: "p1" })).toMatchObject({ title: "First" });
  });

  it("refuse unreadable records with the same message", async () => {
    await kernel.close();
    await start(deny("tag"));
    expect(await put(["t1"])).toMatchObject({ status: 400, body: { errors: { tagsIds: 'tag "t1" does not exist' } } });
    expect(await put([])).toMatchObject({ status: 200 });
  });

  it("roll the record back when linking fails", async () => {
    await kernel.close();
    const base = memoryDriver({ user: [{ id: "ann", name: "Ann" }], tag: [{ id: "t1", name: "t1" }] });
    driver = withMiddleware(base, (statement, next) =>
      statement.kind === "link" ? Promise.reject(new TypeError("the network went away")) : next(statement),
    );
    kernel = createFakeKernel()
      .withEntities(...library)
      .withDriver(driver);
    for (const plugin of [query(), relations(), crud()]) await kernel.use(plugin);
    const answer = await kernel.call("POST", "/posts", { body: { title: "New", authorId: "ann", tagsIds: ["t1"] } });
    expect(answer.status).toBe(500);
    expect(await base.count("post")).toBe(0);
  });

  it("are not read again by code that reuses its data", async () => {
    const data = Object.freeze({ title: "New", authorId: "ann", tagsIds: Object.freeze(["t1"]) });
    const operation = await kernel.operation({ kind: "create", entity: "post", data });
    expect(await tagsOf(operation.records[0]?.id as string)).toEqual(["t1"]);
  });

  it("are in the data of a write until it is normalized, and in no later hook", async () => {
    const seen: unknown[] = [];
    const look = createPlugin({
      id: "look",
      before: ["relations"],
      hooks: {
        "operation:normalize": ({ data }) => void seen.push(data.tagsIds),
        "operation:validate": ({ data }) => void seen.push("tagsIds" in data),
        "operation:protect": ({ data }) => void seen.push("tagsIds" in data),
      },
    });
    await kernel.close();
    await start(look);
    expect((await put(["t1"])).status).toBe(200);
    expect(seen).toEqual([["t1"], false, false]);
  });
});
