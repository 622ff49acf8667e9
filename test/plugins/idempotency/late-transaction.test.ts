import { action, type Driver, embedded, entity, keelson, noopLogger, postgres, string } from "keelson";
import { idempotency } from "keelson/idempotency";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";
import { request, startApp } from "../../support/http.ts";

// A client chooses the key, so a key must not make it hold a transaction while a handler waits for something else.

let wait: () => Promise<unknown> = async () => {};
const order = entity("order", { item: string.unique() })
  .rules({ read: ["everyone"], create: ["everyone"] })
  .actions({
    /** Reads, waits, then writes. */
    quote: action()
      .rules("everyone")
      .input({ item: string })
      .handler(async ({ driver, client, input }) => {
        const known = await driver.count("order");
        await wait();
        await client("order").create({ item: input.item });
        return { known };
      }),
    /** Writes, then waits. */
    book: action()
      .rules("everyone")
      .input({ item: string })
      .handler(async ({ client, input }) => {
        await client("order").create({ item: input.item });
        await wait();
        return { booked: input.item };
      }),
    /** Opens two transactions, and fails afterwards. */
    spoil: action()
      .rules("everyone")
      .handler(async ({ transaction, driver }) => {
        await transaction((inner) => inner.client("order").create({ item: "first" }));
        await driver.transaction((inner) => inner.create("order", { item: "second" }));
        throw new TypeError("spoilt");
      }),
  });

async function started(driver: Driver) {
  const api = keelson({
    entities: [order],
    driver,
    logger: noopLogger,
    plugins: [idempotency()],
    getUser: () => ({ id: "ann" }),
  });
  const { url, close } = await startApp(api);
  const post = (path: string, body: object, key?: string) =>
    request(url, "POST", `/api/orders${path}`, { body, headers: key === undefined ? {} : { "idempotency-key": key } });
  const items = async () => (await api.asSystem().order.list({ sort: ["item"] })).data.map(({ item }) => item);
  return { post, close, items };
}

describe.each([
  ["SQLite", freshSqliteFile, ({ file }: { file: string }) => embedded({ file })],
  ["PostgreSQL", freshPostgres, ({ url }: { url: string }) => postgres(url, { poolSize: 4 })],
] as const)("on %s", (name, open, driverOf) => {
  let database: { remove?: () => unknown; drop?: () => unknown };
  let app: Awaited<ReturnType<typeof started>>;
  beforeAll(async () => {
    database = await open();
    app = await started(driverOf(database as never));
  });
  afterAll(async () => {
    await app.close();
    await (database.remove ?? database.drop)?.();
  });
  beforeEach(() => {
    wait = async () => {};
  });

  it("a handler with a key that reads and then waits blocks no other caller's write", async () => {
    const reached = deferred<void>();
    const released = deferred<void>();
    wait = () => {
      reached.resolve();
      return released.promise;
    };
    const slow = app.post("/quote", { item: "slow" }, "slow");
    await reached.promise;
    expect((await app.post("", { item: "meanwhile" })).status).toBe(201);
    released.resolve();
    expect((await slow).status).toBe(200);
    expect(await app.items()).toEqual(["meanwhile", "slow"]);
    const again = await app.post("/quote", { item: "slow" }, "slow");
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  });

  it("a handler's failure also rolls back its own transactions if it has a key", async () => {
    const before = await app.items();
    expect((await app.post("/spoil", {}, "spoil")).status).toBe(500);
    expect(await app.items()).toEqual(before);
  });

  if (name !== "PostgreSQL") return; // SQLite has one writer, and no pool
  it("requests with a key leave connections to those without", async () => {
    const released = deferred<void>();
    const reached = Array.from({ length: 2 }, () => deferred<void>());
    let arrived = 0;
    wait = () => {
      reached[arrived++]?.resolve();
      return released.promise;
    };
    const held = Array.from({ length: 8 }, (_, i) => app.post("/book", { item: `book-${i}` }, `book-${i}`));
    await Promise.all(reached.map(({ promise }) => promise));
    expect((await app.post("", { item: "unkeyed" })).status).toBe(201);
    expect(arrived).toBe(2); // half of the pool
    released.resolve();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(8).fill(200));
  });
});
