import { action, embedded, entity, keelson, memoryDriver, noopLogger, step, string } from "keelson";
import { createClient } from "keelson/client";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { freshSqliteFile } from "../support/databases.ts";
import { startApp } from "../support/http.ts";
import { openShop } from "./shop.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => shop.close());
const items = (token = "ann") => shop.clientOf(token).orderItem;

describe("prebuilt actions", () => {
  it("are methods, wherever their routes are", async () => {
    expect(await items("root").softDelete("item-00")).toEqual({ success: true });
    await expect(items().get("item-00")).rejects.toMatchObject({ status: 404 });
    expect(await items("root").get("item-00", { deleted: "only" })).toMatchObject({ id: "item-00" });
    expect(await items("root").restore("item-00")).toEqual({ success: true });
    expect(await items().toggle("item-00")).toEqual({ isOpen: false });
    expect(await items().exists("item-00")).toEqual({ exists: true });
    expect(await items().exists("nope")).toEqual({ exists: false });
    expect(await items().clone("item-01")).toMatchObject({ title: "Bolt, long", ownerId: "bob" });
  });

  it("send lists of ids in the body", async () => {
    const given = { ids: ["item-01", "item-02"], data: { count: 9 } };
    expect(await items().bulkUpdate(given)).toEqual({ count: 2 });
    expect(await items().count({ count: 9 })).toBe(2);
    expect(await items("root").bulkDelete({ ids: ["item-01"] })).toEqual({ count: 1 });
    expect(await items().count()).toBe(24);
  });

  it("export with a list's parameters, and import rows one after the other", async () => {
    const query = { where: { count: { gte: 5 }, title: { like: "nut" } }, sort: ["-count"], select: ["title"] };
    const exported = await items().export(query);
    expect(exported.length).toBeGreaterThan(1);
    expect(exported).toEqual(await shop.api.as({ id: "ann" }).orderItem.export(query));
    async function* rows() {
      yield { title: "Row one", ownerId: "ann" };
      yield { title: "x", ownerId: "ann" };
    }
    expect(await items().import(rows())).toMatchObject({ created: 1, failed: [{ row: 2 }] });
    expect(await items().import([{ title: "Row two", ownerId: "ann" }])).toMatchObject({ created: 1, failed: [] });
  });
});

describe("a custom action", () => {
  it("sends its query as parameters, in equivalent texts", async () => {
    expect(await items().greet()).toEqual({ said: "Hello you", at: null, loud: false });
    const at = new Date("2026-02-03T04:05:06Z");
    const given = { name: "Ann & Bob = +1", at, loud: true };
    const said = { said: "Hello Ann & Bob = +1", at: at.toISOString(), loud: true };
    expect(await items().greet(given)).toEqual(said);
    expect(await items().greet({ ...given, at: at.toISOString() })).toEqual(said);
    expect(await items().greet({ at: null })).toEqual({ said: "Hello you", at: null, loud: false });
  });

  it("splits one object into query and input", async () => {
    const given = { dry: true, price: 1.5, from: new Date("2026-02-03") };
    expect(await items().reprice("item-03", given)).toEqual({
      ...{ id: "item-03", dry: true, price: 1.5 },
      from: "2026-02-03T00:00:00.000Z",
    });
    expect(await items().shared({ name: "both" })).toEqual(["both", "both"]);
    await expect(items().reprice("item-03", { price: 1, extra: 1 } as never)).rejects.toMatchObject({
      code: "VALIDATION_FAILED",
      errors: { extra: expect.any(String) },
    });
  });

  it("sends the body unchanged without a declaration, and may return nothing", async () => {
    expect(await items().echo({ a: [1, null] })).toEqual({ got: { a: [1, null] } });
    expect(await items().echo([1, 2])).toEqual({ got: [1, 2] });
    expect(await items().silent()).toBeUndefined();
  });

  it("is not available when its path needs more than an id", async () => {
    await expect(items().line()).rejects.toMatchObject({ code: "BAD_REQUEST", status: 400 });
  });

  it("is a POST to its name unless the client's routes say otherwise", async () => {
    const client = createClient<typeof shop.api>({
      baseUrl: shop.baseUrl,
      routes: { orderItem: { actions: {} } },
      getToken: () => "ann",
    });
    expect(await client.orderItem.echo(1)).toEqual({ got: 1 });
    expect(await client.orderItem.clone("item-02")).toMatchObject({ title: "Wing \\ nut" });
    await expect(client.orderItem.softDelete("item-02")).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("POST /order-items/item-02/softDelete was assumed"),
    });
  });
});

describe("an action that is a workflow", () => {
  it("is awaited when it is called", async () => {
    expect(await items().place({ title: "Nut" })).toEqual({ placed: "Nut" });
  });

  it("continues after it was started, and its run can be followed", async () => {
    const { file, remove } = await freshSqliteFile();
    const order = entity("order", { item: string })
      .rules({ read: ["everyone"] })
      .actions({
        place: action()
          .rules("everyone")
          .input({ item: string })
          .workflow([step("place", ({ input }) => ({ placed: (input as { item: string }).item }))]),
      });
    const api = keelson({
      entities: [order],
      driver: embedded({ file }),
      logger: noopLogger,
      getUser: ({ headers }) => (headers.get("authorization") === "Bearer ann" ? { id: "ann" } : null),
    });
    const { url, close } = await startApp(api);
    onTestFinished(async () => {
      await close();
      await remove();
    });
    const baseUrl = `${url}/api`;
    const client = createClient<typeof api>({ baseUrl, getToken: () => "ann" });
    const started = await client.order.place.start({ item: "nut" });
    if (started.status !== "running") expect.fail("the run was waited for");
    const report = () => client.$runs.get(started.runId);
    await expect.poll(async () => (await report()).status).toBe("completed");
    expect(await report()).toMatchObject({ id: started.runId, name: "order.place", result: { placed: "nut" } });
    const earlier = await client.order.place({ item: "bolt" });
    expect(earlier).toEqual({ placed: "bolt" });
    const first = await client.$runs.list({ status: "completed", name: "order.place", limit: 1 });
    expect(first.data).toMatchObject([{ name: "order.place", status: "completed" }]);
    const next = await client.$runs.list({ limit: 1, after: first.nextCursor ?? "" });
    expect(next).toMatchObject({ data: [{ id: started.runId }], nextCursor: null });
    expect(await client.$runs.list({ status: "compensated" })).toEqual({ data: [], nextCursor: null });
    const nobody = createClient<typeof api>({ baseUrl });
    // An anonymous caller could not read the report, so the call waits for the work.
    expect(await nobody.order.place.start({ item: "nut" })).toEqual({ status: "ended", result: { placed: "nut" } });
    await expect(nobody.$runs.get(started.runId)).rejects.toMatchObject({ status: 401 });
  });

  it("fails with the server's report of the run", async () => {
    const failing = entity("job", { name: string }).actions({
      run: action()
        .rules("everyone")
        .workflow([
          step("one", () => 1),
          step("two", () => {
            throw new TypeError("no");
          }),
        ]),
    });
    const api = keelson({ entities: [failing], driver: memoryDriver(), logger: noopLogger });
    onTestFinished(() => api.close());
    const client = createClient<typeof api>({
      baseUrl: "http://jobs.example/api",
      fetch: (url, init) => api.fetch(new Request(url, init)),
    });
    await expect(client.job.run()).rejects.toMatchObject({
      code: "WORKFLOW_FAILED",
      details: { failedStep: "two", compensatedSteps: expect.any(Array), runId: expect.any(String) },
    });
  });
});
