import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import type { PostgresOptions } from "../../src/drivers/prisma/index.ts";
import { type Limits, postgres } from "../../src/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { deferred } from "../support/deferred.ts";
import { mutingProxy } from "../support/faults/muting-proxy.ts";
import { noteApp, unavailable, until } from "../support/faults/note-app.ts";
import { request, startApp } from "../support/http.ts";

const NOW = new Date();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  options: PostgresOptions,
  { limits = {}, through }: { limits?: Partial<Limits>; through?: (url: string) => Promise<string> } = {},
): Promise<{ url: string; databaseUrl: string; api: ReturnType<typeof noteApp> }> {
  const database = await freshPostgres();
  cleanups.push(database.drop);
  const url = (await through?.(database.url)) ?? database.url;
  const api = noteApp(postgres(url, options), limits);
  const app = await startApp(api);
  cleanups.push(app.close);
  await api.ready;
  return { url: app.url, databaseUrl: database.url, api };
}

describe("a pool of two connections", () => {
  it("answers fifty slow requests in order of arrival, and loses none", async () => {
    const { api } = await start({ poolSize: 2, connectionTimeout: 10_000 });
    const texts = Array.from({ length: 50 }, (_, i) => `slow-${String(i).padStart(2, "0")}`);
    // In-process calls, so that the order of arrival is known.
    const calls = texts.map((text) =>
      api.asSystem().note.slow({
        text,
        milliseconds: 2,
      }),
    );
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(50);
    const rows = await api.driver.findMany("note", { sort: [{ field: "id", direction: "asc" }] });
    const order = rows.map(({ text }) => texts.indexOf(text as string));
    // Two run at a time: while one is slow, the other may run later requests.
    for (const [position, index] of order.entries()) expect(Math.abs(position - index)).toBeLessThanOrEqual(10);
    expect(rows.every(({ size }) => size === 1)).toBe(true);
  });

  it("gives 503 with Retry-After to requests that wait too long, and keeps working", async () => {
    const { url, api } = await start({ poolSize: 2, connectionTimeout: 300 });
    const released = deferred<void>();
    let holding = 0;
    const hold = () =>
      api.driver.transaction(async (driver) => {
        await driver.create("note", { id: `held-${++holding}`, text: "held", size: 0, createdAt: NOW, updatedAt: NOW });
        await released.promise;
      });
    const held = [hold(), hold()];
    await until(() => holding === 2);
    const refused = await request(url, "GET", "/api/notes");
    expect(unavailable(refused)).toBeUndefined();
    expect(refused.json.code).toBe("DATABASE_UNAVAILABLE");
    released.resolve();
    await Promise.all(held);
    expect((await request(url, "GET", "/api/notes")).json).toHaveLength(2);
  });

  it("starts no transaction on a connection that stays silent past the limit", async () => {
    let proxy: Awaited<ReturnType<typeof mutingProxy>> | undefined;
    const { url } = await start(
      { poolSize: 2, connectionTimeout: 300 },
      {
        // The code shows which limit was exceeded: that of the request itself would give another one.
        limits: { requestMs: 8_000 },
        async through(target) {
          proxy = await mutingProxy(target);
          return proxy.url;
        },
      },
    );
    const create = () => request(url, "POST", "/api/notes", { body: { text: "silent" } });
    expect((await create()).status).toBe(201);
    proxy?.mute();
    const refused = await create();
    expect(unavailable(refused)).toBeUndefined();
    expect(refused.json.code).toBe("DATABASE_UNAVAILABLE");
    await proxy?.close();
  });

  it("releases the locks of a transaction that sends nothing, and keeps working", async () => {
    const { url, databaseUrl, api } = await start({ poolSize: 2, idleTransactionTimeout: 200 });
    const { id } = (await request(url, "POST", "/api/notes", { body: { text: "first" } })).json;
    const locked = deferred<void>();
    const thrownOut = deferred<void>();
    const hanging = api.driver.transaction(async (driver) => {
      await driver.update("note", { id }, { text: "hanging" });
      locked.resolve();
      await thrownOut.promise;
      await driver.update("note", { id }, { size: 5 });
    });
    hanging.catch(() => undefined);
    await locked.promise;
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    // Waits for the lock, which this process will not release.
    await client.query("UPDATE note SET text = 'second' WHERE id = $1", [id]);
    await client.end();
    thrownOut.resolve();
    await expect(hanging).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    expect((await request(url, "GET", `/api/notes/${id}`)).json).toMatchObject({ text: "second", size: 0 });
    const after = await Promise.all(
      [1, 2, 3].map((size) => request(url, "POST", "/api/notes", { body: { text: "after", size } })),
    );
    expect(after.map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  it("recovers when its connections have become silent", async () => {
    let proxy: Awaited<ReturnType<typeof mutingProxy>> | undefined;
    const { url } = await start(
      { poolSize: 2, statementTimeout: 300 },
      {
        limits: { requestMs: 4_000 },
        async through(target) {
          proxy = await mutingProxy(target);
          cleanups.push(proxy.close);
          return proxy.url;
        },
      },
    );
    const create = (text: string) => request(url, "POST", "/api/notes", { body: { text } });
    await Promise.all([create("a"), create("b"), create("c")]);
    proxy?.mute();
    const answers = await Promise.all([create("d"), create("e"), request(url, "GET", "/api/notes")]);
    expect(answers.filter(({ status }) => status === 503).map(unavailable)).toEqual(
      answers.filter(({ status }) => status === 503).map(() => undefined),
    );
    await expect
      .poll(async () => (await Promise.all([create("f"), create("g"), create("h")])).map(({ status }) => status), {
        timeout: 20_000,
      })
      .toEqual([201, 201, 201]);
  });
});

describe("an app that closes", () => {
  it("finishes pending requests, commits them, and releases all connections", async () => {
    const { url, api, databaseUrl } = await start({ poolSize: 2, connectionTimeout: 10_000 });
    const slow = Array.from({ length: 10 }, (_, i) =>
      request(url, "POST", "/api/notes/slow", { body: { text: `closing-${i}`, milliseconds: 100 } }),
    );
    await until(() => api.begun() === slow.length);
    await cleanups.pop()?.();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(slow.map(() => 200));
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const notes = await client.query("SELECT size FROM note");
    expect(notes.rows).toEqual(slow.map(() => ({ size: 1 })));
    const others = async () =>
      (
        await client.query(
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
        )
      ).rows;
    await expect.poll(others).toEqual([]);
    await client.end();
  });
});

describe("two bulk requests that lock the same records in opposite order", () => {
  it("both get a response, and each is applied as a whole", async () => {
    const { url, api } = await start({ poolSize: 4 });
    const ids = Array.from({ length: 30 }, (_, i) => `n${String(i).padStart(2, "0")}`);
    for (const id of ids) await api.asSystem().note.create({ id, text: "t" });
    const bulk = (size: number, order: readonly string[]) =>
      request(url, "PUT", "/api/notes/bulk", { body: { ids: order, data: { size } } });
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([bulk(1, ids), bulk(2, [...ids].reverse())]);
      expect(answers.map(({ json }) => json)).toEqual([{ count: 30 }, { count: 30 }]);
      const sizes = new Set((await api.driver.findMany("note")).map(({ size }) => size));
      expect(sizes.size).toBe(1);
    }
    // Each failed attempt has rolled back its entries.
    const entries = await api.driver.findMany("auditEntry", { where: { recordId: "n00", operation: "update" } });
    const chain = entries.map(({ before, after }) => [
      (before as { size: number }).size,
      (after as { size: number }).size,
    ]);
    expect(chain[0]?.[0]).toBe(0);
    for (const [position, [before]] of chain.entries()) if (position > 0) expect(before).toBe(chain[position - 1]?.[1]);
  });
});

describe("connections that the server ends as soon as they are idle", () => {
  it("give 503, also within a transaction, and the process continues", async () => {
    const proxies: Awaited<ReturnType<typeof mutingProxy>>[] = [];
    const { url } = await start(
      { poolSize: 2, connectionTimeout: 1_000 },
      {
        async through(target) {
          const proxy = await mutingProxy(target);
          cleanups.push(proxy.close);
          proxies.push(proxy);
          return proxy.url;
        },
      },
    );
    const stop = proxies[0]?.endIdle();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 2 === 0
          ? request(url, "POST", "/api/notes/slow", { body: { text: `slow-${i}` } })
          : request(url, "POST", "/api/notes", { body: { text: `ended-${i}` } }),
      ),
    );
    // Requests that got a connection before may succeed.
    const failed = answers.filter(({ status }) => status >= 300);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.map(unavailable).filter(Boolean)).toEqual([]);
    stop?.();
    const after = await Promise.all(
      Array.from({ length: 6 }, (_, i) => request(url, "POST", "/api/notes", { body: { text: `after-${i}` } })),
    );
    expect(after.map(({ status }) => status)).toEqual(after.map(() => 201));
  });
});
