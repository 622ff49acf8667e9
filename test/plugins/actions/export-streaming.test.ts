import { once } from "node:events";
import { get as httpGet, type IncomingMessage } from "node:http";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { withMiddleware } from "../../../src/gate/index.ts";
import {
  defineRule,
  entity,
  exportAction,
  int,
  keelson,
  type Logger,
  memoryDriver,
  noopLogger,
  type Row,
  string,
  text,
} from "../../../src/index.ts";
import { createTestApp, recordingLogger } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";
import { startApp } from "../../support/http.ts";

const item = entity("item", { name: string, body: text.optional(), size: int.default(0) })
  .rules({ read: ["everyone"] })
  .actions({ export: exportAction() });

/** A memory driver that records each list's limit, and may run a callback before it returns. */
function watchedDriver(before: (lists: readonly number[]) => unknown = () => {}) {
  const inner = memoryDriver();
  const lists: number[] = [];
  const driver = withMiddleware(inner, async (statement, next) => {
    if (statement.kind === "find" && statement.limit !== 1) {
      lists.push(statement.limit ?? Number.NaN);
      await before(lists);
    }
    return next(statement);
  });
  return { driver, inner, lists };
}

const rows = (count: number, change: (index: number) => Row = () => ({})): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `i${String(index).padStart(6, "0")}`,
    name: `n${index}`,
    body: null,
    size: index,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    ...change(index),
  }));

async function itemApp(count: number, watched = watchedDriver(), logger: Logger = noopLogger) {
  const app = createTestApp({ entities: [item], logger, driver: watched.driver });
  onTestFinished(app.close);
  await app.api.ready;
  await watched.inner.createMany("item", rows(count));
  watched.lists.length = 0;
  return { app, ...watched };
}

const PATH = "/api/items/export";

describe("an export", () => {
  it.each([
    ["include=owner", /Unknown parameter "include"/],
    ["_page=2", /Unknown parameter "_page"/],
    ["_limit=5", /Unknown parameter "_limit"/],
    ["nme=x", /Unknown parameter "nme".*"name"/],
    ["select=nme", /no field "nme" to select.*"name"/],
    ["_sort=nme", /no field "nme" to sort by/],
    ["format=xml", /no format "xml"; there are json, csv, ndjson/],
    ["format=JSON", /no format "JSON"/],
    ["format=csv&format=json", /"format" is given more than once/],
    ["formt=csv", /Unknown parameter "formt".*"format"/],
  ])("responds with 400 to %s, before any record is read", async (query, message) => {
    const { app, lists } = await itemApp(3);
    const { status, body } = await app.as(null).request("GET", `${PATH}?${query}`);
    expect({ status, message: (body as Row).message }).toEqual({
      status: 400,
      message: expect.stringMatching(message),
    });
    expect(lists).toEqual([]);
  });

  it("responds with 401 and 403 to any query, before any record is read", async () => {
    const { driver, lists } = watchedDriver();
    const secret = entity("secret", { name: string })
      .rules({ read: ["admin"] })
      .actions({ export: exportAction });
    const app = createTestApp({ entities: [secret], driver, logger: noopLogger });
    onTestFinished(app.close);
    for (const query of ["", "?format=csv", "?format=xml&nope=1"]) {
      expect((await app.as(null).request("GET", `/api/secrets/export${query}`)).status).toBe(401);
      expect((await app.as({ id: "ann" }).request("GET", `/api/secrets/export${query}`)).status).toBe(403);
    }
    expect(lists).toEqual([]);
  });

  it("obeys its own rules in place of the entity's, in every batch", async () => {
    const big = defineRule("big", () => ({ size: { gte: 1_500 } }));
    const own = entity("item", { name: string, body: text.optional(), size: int.default(0) })
      .rules({ read: ["everyone"] })
      .actions({ export: exportAction().rules(big) });
    const watched = watchedDriver();
    const app = createTestApp({ entities: [own], logger: noopLogger, driver: watched.driver });
    onTestFinished(app.close);
    await app.api.ready;
    await watched.inner.createMany("item", rows(3_000));
    const { body } = await app.as(null).request("GET", `${PATH}?select=size`);
    expect((body as Row[]).map(({ size }) => size)).toEqual(
      rows(3_000)
        .slice(1_500)
        .map(({ size }) => size),
    );
  });

  it.each(["", "_sort=-name", "_sort=body,-size", "_sort=-body&select=size", "_sort=-id&format=json"])(
    "contains each record once and in order over many batches: %s",
    async (query) => {
      const { app, inner, lists } = await itemApp(0);
      // Ties, nulls and texts too long for a cursor.
      const body = (index: number) => [null, "a", "b".repeat(3_000), "b".repeat(3_001)][index % 4] as string | null;
      await inner.createMany(
        "item",
        rows(2_345, (index) => ({ body: body(index), name: `n${index % 7}` })),
      );
      const exported = (await app.as(null).request("GET", `${PATH}?${query}`)).body as Row[];
      const field = (name: string) => exported.map((row) => row[name]);
      const batches = lists.length;
      const sort = new URLSearchParams(query).get("_sort")?.split(",") ?? [];
      const order = sort.map((key) =>
        key.startsWith("-")
          ? ({ field: key.slice(1), direction: "desc" } as const)
          : ({ field: key, direction: "asc" } as const),
      );
      const expected = await inner.findMany("item", { sort: order });
      expect(field("id")).toEqual(expected.map(({ id }) => id));
      expect(field("size")).toEqual(expected.map(({ size }) => size));
      expect(exported.every((row) => "body" in row === !query.includes("select"))).toBe(true);
      expect(batches).toBeGreaterThan(3);
    },
  );

  it("reads no more than the client takes, and nothing after the client cancels", async () => {
    const { app, lists } = await itemApp(10_000);
    const response = await app.api.handle({ method: "GET", url: PATH, headers: {} });
    const body = response.body as AsyncIterable<string>;
    const pieces = body[Symbol.asyncIterator]();
    expect(lists).toEqual([100]); // the first batch, for the status
    expect(JSON.parse(`${(await pieces.next()).value}]`)).toHaveLength(100);
    expect(lists).toEqual([100]);
    await pieces.next();
    expect(lists).toEqual([100, 1_000]);
    await pieces.next();
    expect(lists).toEqual([100, 1_000, 1_000]);
    await pieces.return?.();
    expect(await pieces.next()).toMatchObject({ done: true });
    expect(lists).toEqual([100, 1_000, 1_000]);
  });

  it("reads fewer records at a time when they are long", async () => {
    const { app, inner, lists } = await itemApp(0);
    const body = "x".repeat(50_000);
    await inner.createMany(
      "item",
      rows(300, (index) => ({ body: index < 150 ? body : null })),
    );
    expect((await app.as(null).request("GET", PATH)).body).toHaveLength(300);
    expect(lists.slice(0, 3)).toEqual([100, 10, 10]);
    expect(lists.at(-1)).toBe(1_000);
  });

  it("ends when its request is aborted", async () => {
    const logger = recordingLogger();
    const { app, lists } = await itemApp(10_000, watchedDriver(), logger);
    const abort = new AbortController();
    const url = `http://test.invalid${PATH}`;
    const response = await app.api.fetch(new Request(url, { signal: abort.signal }));
    abort.abort();
    await expect(response.text()).rejects.toThrow(/abort/);
    expect(lists.length).toBeLessThan(4);
    expect(logger.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  it("sends the headers of GET for HEAD, and no body", async () => {
    const { app, lists } = await itemApp(3);
    const head = await app.as(null).request("HEAD", `${PATH}?format=csv`);
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect((await app.as(null).request("HEAD", `${PATH}?format=xml`)).status).toBe(400);
    expect(lists).toEqual([100]);
  });
});

describe("an export that fails midway", () => {
  const fails = (lists: readonly number[]) => {
    if (lists.length === 3) throw new RangeError("told by the database");
  };

  it.each(["json", "csv", "ndjson"])(
    "closes the connection of a client that reads %s, and is logged",
    async (format) => {
      const logger = recordingLogger();
      const { app } = await itemApp(5_000, watchedDriver(fails), logger);
      const running = await startApp(app.api);
      onTestFinished(running.close);
      const [response] = (await once(httpGet(`${running.url}${PATH}?format=${format}`), "response")) as [
        IncomingMessage,
      ];
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      const [error] = (await once(response, "error")) as [NodeJS.ErrnoException];
      expect({ status: response.statusCode, code: error.code }).toEqual({ status: 200, code: "ECONNRESET" });
      expect(response.complete).toBe(false);
      const written = Buffer.concat(pieces).toString();
      expect(written).not.toBe("");
      expect(written.trimEnd().endsWith("]")).toBe(false);
      expect(logger.lines.filter((line) => line.startsWith("error"))).toEqual([
        expect.stringMatching(/^error A response could not be sent .*RangeError/),
      ]);
    },
  );

  it("fails for a web-standard host too, and is logged", async () => {
    const logger = recordingLogger();
    const { app } = await itemApp(5_000, watchedDriver(fails), logger);
    const response = await app.api.fetch(new Request(`http://test.invalid${PATH}`));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(logger.lines.filter((line) => line.startsWith("error"))).toEqual([
      expect.stringMatching(/^error A response could not be sent .*RangeError/),
    ]);
  });

  it("has an error status if it fails before the first byte", async () => {
    let isArmed = false;
    const { app } = await itemApp(
      1,
      watchedDriver(() => isArmed && Promise.reject(new RangeError("told"))),
    );
    isArmed = true;
    expect((await app.as(null).request("GET", PATH)).status).toBe(500);
  });

  it("stops when the caller may no longer read", async () => {
    let isAllowed = true;
    const guarded = entity("item", { name: string, body: text.optional(), size: int.default(0) })
      .rules({ read: [defineRule("asLongAs", () => isAllowed)] })
      .actions({ export: exportAction });
    const watched = watchedDriver();
    const app = createTestApp({ entities: [guarded], logger: noopLogger, driver: watched.driver });
    onTestFinished(app.close);
    await app.api.ready;
    await watched.inner.createMany("item", rows(3_000));
    const response = await app.as({ id: "ann" }).request("HEAD", PATH);
    expect(response.status).toBe(200);
    const { body } = await app.api.handle({ method: "GET", url: PATH, headers: {} });
    const pieces = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
    await pieces.next();
    isAllowed = false;
    await expect(pieces.next()).rejects.toMatchObject({ status: 401 });
  });
});

it("a client that disconnects stops the queries of its export", async () => {
  const third = deferred<void>();
  const release = deferred<void>();
  const watched = watchedDriver(async (lists) => {
    if (lists.length !== 3) return;
    third.resolve();
    await release.promise;
  });
  let isArmed = false;
  const closed = deferred<void>();
  const watchful = entity("item", { name: string, body: text.optional(), size: int.default(0) })
    .rules({ read: [defineRule("watched", ({ resolve }) => !isArmed || resolve("ending") !== undefined)] })
    .actions({ export: exportAction });
  const api = keelson({ entities: [watchful], driver: watched.driver, logger: noopLogger });
  api.registerService("ending", () => ({ close: () => closed.resolve() }), { lifecycle: "scoped" });
  const running = await startApp(api);
  onTestFinished(running.close);
  await watched.inner.createMany("item", rows(20_000));
  watched.lists.length = 0;
  isArmed = true;
  const request = httpGet(`${running.url}${PATH}`);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => {}).resume();
  await third.promise;
  response.destroy();
  await once(response, "close");
  release.resolve();
  await closed.promise; // the request's scope ends with the export
  expect(watched.lists.length).toBeLessThan(6);
});

describe("an in-process export", () => {
  it("returns all records as one array, as the caller may see them", async () => {
    const { app, lists } = await itemApp(1_234);
    const client = app.api.as({ id: "ann" }).item;
    expectTypeOf(client.export).parameter(0).toMatchTypeOf<{ select?: readonly string[] | undefined } | undefined>();
    const all = await client.export();
    expect(all).toHaveLength(1_234);
    expect(lists).toEqual([1_000, 1_000]);
    expect(all[0]).toEqual(await client.get("i000000"));
    expect(await client.export({ where: { size: { gte: 1_232 } }, sort: ["-size"], select: ["size"] })).toEqual([
      { id: "i001233", size: 1_233 },
      { id: "i001232", size: 1_232 },
    ]);
    expect(await client.export({ sort: ["name"], where: { id: ["i000002", "i000010"] }, select: [] })).toEqual([
      { id: "i000010" },
      { id: "i000002" },
    ]);
  });

  it("refuses unknown options", async () => {
    const { app } = await itemApp(1);
    const client = app.api.as({ id: "ann" }).item;
    await expect(client.export({ format: "csv" } as never)).rejects.toThrow(
      /takes where, sort, select, deleted, and no "format"/,
    );
    for (const [given, reason] of [
      [null, /an object/],
      ["csv", /an object/],
      [["name"], /an object/],
      [{ sort: "name" }, /"sort" must be a list of names/],
      [{ sort: [1] }, /"sort" must be a list of names/],
      [{ sort: null }, /"sort" must be a list of names/],
      [{ select: "name" }, /"select" must be a list of names/],
      [{ select: [null] }, /"select" must be a list of names/],
      [{ where: "name" }, /"where" must be an object/],
      [{ where: null }, /"where" must be an object/],
      [{ deleted: true }, /"deleted" takes the values with and only/],
    ] as const) {
      const refused = client.export(given as never);
      await expect(refused).rejects.toThrow(reason);
      await expect(refused).rejects.toMatchObject({ status: 400 });
    }
    await expect(client.export({ sort: ["nme"] })).rejects.toThrow(/no field "nme"/);
    await expect(client.export({ where: { nme: 1 } })).rejects.toThrow(/no field "nme"/);
  });
});
