import { embedded, entity, generateEncryptionKey, keelson, memoryDriver, noopLogger, postgres, string } from "keelson";
import { idempotency } from "keelson/idempotency";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";
import { SQL_DATABASES, type SqlDatabase } from "../../support/sql-databases.ts";
import { orderApp, sameAnswer } from "./order-app.ts";

describe.each(SQL_DATABASES)("on %s", (_, open) => {
  let database: SqlDatabase;
  let app: Awaited<ReturnType<typeof orderApp>> | undefined;
  beforeEach(async () => {
    database = await open();
  });
  afterEach(async () => {
    await app?.close();
    await database.drop();
  });

  it("runs one of 50 parallel requests; the others get 409 or the same response", async () => {
    app = await orderApp({ driver: database.driver });
    const { create } = app;
    const answers = await Promise.all(Array.from({ length: 50 }, () => create("one-key")));
    const carriedOut = answers.filter(({ status, headers }) => status === 201 && !headers.has("idempotency-replayed"));
    expect(carriedOut).toHaveLength(1);
    const first = carriedOut[0] as (typeof answers)[number];
    for (const one of answers)
      if (one.status === 201) expect(sameAnswer(one)).toEqual(sameAnswer(first));
      else expect([one.status, one.json.code]).toEqual([409, "IDEMPOTENCY_KEY_IN_USE"]);
    expect((await app.orders()).map(({ id }) => id)).toEqual([first.json.id]);
    expect(sameAnswer(await create("one-key"))).toEqual(sameAnswer(first));
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`key-${i}`)));
    expect(others.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(await app.orders()).toHaveLength(21);
  });

  it("responds with 409 while the first is running, and then with its response", async () => {
    const reached = deferred<void>();
    const released = deferred<void>();
    app = await orderApp({
      driver: database.driver,
      async work() {
        reached.resolve();
        await released.promise;
      },
    });
    const { json } = await app.create();
    const { send } = app;
    const pay = () => send("POST", `/api/orders/${json.id}/pay`, "pay-once");
    const first = pay();
    await reached.promise;
    const second = await pay();
    expect([second.status, second.json.code]).toEqual([409, "IDEMPOTENCY_KEY_IN_USE"]);
    expect(second.headers.get("retry-after")).toBe("1");
    released.resolve();
    expect((await first).status).toBe(200);
    expect(sameAnswer(await pay())).toEqual(sameAnswer(await first));
  });

  it("stores responses encrypted if fields are encrypted", async () => {
    const encryption = { key: generateEncryptionKey() };
    app = await orderApp({ driver: database.driver, encrypted: true, encryption, keys: { encrypted: true } });
    const first = await app.create("k", { item: "rope", card: "4242-canary" });
    expect(first.json.card).toBe("4242-canary");
    expect(sameAnswer(await app.create("k", { item: "rope", card: "4242-canary" }))).toEqual(sameAnswer(first));
    const table = (await database.rows(`SELECT * FROM "idempotencyKey"`)) as unknown[];
    expect(table).toHaveLength(1);
    const text = JSON.stringify(table);
    expect(text).not.toContain("canary");
    expect(text).not.toContain(Buffer.from("canary").toString("base64").slice(0, 6));
    expect(text).not.toContain('"status\\":201');
  });

  it("deletes expired keys", async () => {
    app = await orderApp({ driver: database.driver, keys: { ttlMs: 2_000 } });
    await app.create("short");
    expect(await app.keys()).toHaveLength(1);
    await expect.poll(async () => (await app?.keys())?.length, { timeout: 20_000 }).toBe(0);
    expect(await app.orders()).toHaveLength(1);
  });
});

const SERVERS = [
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { connect: () => embedded({ file }), drop: remove };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await freshPostgres();
      return { connect: () => postgres(url), drop };
    },
  ],
] as const;

describe.each(SERVERS)("two servers on one database, %s", (_, open) => {
  it("see each other's keys: 409 while one works, and then its response from either", async () => {
    const { connect, drop } = await open();
    const reached = deferred<void>();
    const released = deferred<void>();
    const one = await orderApp({
      driver: connect(),
      async work() {
        reached.resolve();
        await released.promise;
      },
    });
    const two = await orderApp({ driver: connect() });
    const path = `/api/orders/${(await one.create()).json.id}/pay`;
    const first = one.send("POST", path, "k");
    await reached.promise;
    const second = await two.send("POST", path, "k");
    expect([second.status, second.json.code]).toEqual([409, "IDEMPOTENCY_KEY_IN_USE"]);
    released.resolve();
    const answer = sameAnswer(await first);
    expect(answer.status).toBe(200);
    expect(sameAnswer(await two.send("POST", path, "k"))).toEqual(answer);
    expect(sameAnswer(await one.send("POST", path, "k"))).toEqual(answer);
    await one.close();
    await two.close();
    await drop();
  });
});

describe("an attempt that outlives its lease", () => {
  it("rolls back if another one has run the request", async () => {
    const { url, drop } = await freshPostgres();
    let now = Date.now();
    let tries = 0;
    const reached = deferred<void>();
    const released = deferred<void>();
    const app = await orderApp({
      driver: postgres(url),
      clock: { now: () => new Date(now) },
      keys: { leaseMs: 600_000 },
      async work() {
        tries += 1;
        if (tries > 1) return;
        reached.resolve();
        await released.promise;
      },
    });
    const keep = () => app.send("POST", "/api/orders/keep", "slow");
    const first = keep();
    await reached.promise;
    now += 700_000;
    const second = await keep();
    expect(second.status).toBe(200);
    released.resolve();
    expect((await first).json.code).toBe("IDEMPOTENCY_KEY_IN_USE");
    expect((await app.orders()).map(({ id }) => id)).toEqual([second.json.id]);
    expect((await keep()).json).toEqual(second.json);
    await app.close();
    await drop();
  });
});

describe("an app with encrypted fields", () => {
  it("does not start with plaintext responses", () => {
    const account = entity("account", { iban: string.encrypted() });
    const boot = () =>
      keelson({
        entities: [account],
        driver: memoryDriver(),
        encryption: { key: generateEncryptionKey() },
        plugins: [idempotency()],
        logger: noopLogger,
      });
    expect(boot).toThrow("idempotency({ encrypted: true })");
  });

  it("does not start without a key to encrypt responses", () => {
    const boot = () =>
      keelson({
        entities: [],
        driver: memoryDriver(),
        plugins: [idempotency({ encrypted: true })],
        logger: noopLogger,
      });
    expect(boot).toThrow(/idempotencyKey\.answer: \.encrypted\(\) needs a key/);
  });
});
