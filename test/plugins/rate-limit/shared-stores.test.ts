import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Redis } from "ioredis";
import pg from "pg";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Driver, embedded, memoryDriver, noopLogger, postgres } from "../../../src/index.ts";
import { databaseRateStore, redisRateStore } from "../../../src/plugins/rate-limit/index.ts";
import { childProgram } from "../../support/child-program.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { letThrough, serveLimited } from "./limit-app.ts";

const CHILD = new URL("limit.child.ts", import.meta.url);
const REDIS = "redis://127.0.0.1:6379";
const policies = [{ name: "all", limit: 40, window: 60 }] as const;
const storeTimeoutMs = 10_000;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** A Redis client for the duration of the test, and its key prefix. */
async function redisClient(kind: "redis" | "ioredis"): Promise<{ readonly client: object; readonly prefix: string }> {
  const prefix = `test:${randomUUID()}`;
  if (kind === "ioredis") {
    const client = new Redis(REDIS);
    onTestFinished(() => client.disconnect());
    return { client, prefix };
  }
  const client = await createClient({ url: REDIS }).connect();
  onTestFinished(() => client.destroy());
  return { client, prefix };
}

let database: Awaited<ReturnType<typeof freshPostgres>>;
beforeAll(async () => {
  database = await freshPostgres();
});
afterAll(() => database.drop());

describe.each(["redis", "ioredis"] as const)("Redis, with a client of %s", (kind) => {
  it("allows exactly as many as the limit, of a hundred parallel requests", async () => {
    const { client, prefix } = await redisClient(kind);
    const { get, status } = await serveLimited({ policies, store: redisRateStore(client, { prefix }), storeTimeoutMs });
    expect((await get("/report")).headers.get("ratelimit")).toMatch(/^"all";r=39;t=(?:59|60)$/);
    expect(await letThrough(times(100, () => status("/report")))).toBe(39);
    const refused = await get("/report");
    expect(refused.headers.get("ratelimit")).toMatch(/^"all";r=0;t=[1-6]\d$/);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(10);
  });

  it("gives a new quota when the window is over", async () => {
    const { client, prefix } = await redisClient(kind);
    const store = redisRateStore(client, { prefix });
    await store.open?.({ driver: memoryDriver(), log: noopLogger });
    const hit = async () => (await store.hit("key", { limit: 1, window: 1 })).count;
    expect((await Promise.all([hit(), hit()])).sort()).toEqual([1, 2]);
    await expect.poll(hit, { timeout: 5_000 }).toBe(1);
  });
});

/** A file for the duration of the test. */
async function sqliteFile(): Promise<string> {
  const { file, remove } = await freshSqliteFile();
  onTestFinished(remove);
  return file;
}

const drivers: readonly (readonly [string, () => Promise<Driver>])[] = [
  ["SQLite", async () => embedded({ file: await sqliteFile() })],
  ["PostgreSQL", async () => postgres(database.url)],
];
it("a burst keeps its limit and blocks no other request while its row is locked", async () => {
  const own = await freshPostgres();
  onTestFinished(own.drop);
  const { status } = await serveLimited(
    {
      policies: [{ name: "all", limit: 10, window: 60 }],
      store: databaseRateStore(),
      trustedProxies: 1,
      storeTimeoutMs: 200,
    },
    { driver: postgres(own.url, { poolSize: 2 }) },
  );
  await status("/report", "192.0.2.1");
  const other = new pg.Client({ connectionString: own.url });
  await other.connect();
  try {
    await other.query("BEGIN");
    await other.query(`SELECT * FROM "rateWindow" FOR UPDATE`);
    const burst = times(20, () => status("/report", "192.0.2.1"));
    expect(await status("/report", "192.0.2.2")).toBe(200);
    expect((await other.query(`SELECT * FROM "rateWindow"`)).rowCount).toBe(2); // the other one was counted in the meantime
    expect(await letThrough(burst)).toBe(9);
  } finally {
    await other.end();
  }
});

describe.each(drivers)("the database, on %s", (_name, driver) => {
  it("allows exactly as many as the limit, of a hundred parallel requests", async () => {
    const { get, status } = await serveLimited(
      {
        policies: [...policies, { name: "short", limit: 1, window: 1, for: { action: "login" } }],
        store: databaseRateStore(),
        storeTimeoutMs,
      },
      { driver: await driver() },
    );
    expect(await letThrough(times(100, () => status("/report")))).toBe(40);
    const refused = await get("/report");
    expect(refused.headers.get("ratelimit")).toMatch(/^"all";r=0;t=[1-6]\d$/);
    expect(refused.status).toBe(429);
  });

  it("starts a new window once if many requests arrive after its end", async () => {
    const store = databaseRateStore();
    const { status } = await serveLimited(
      { policies: [{ name: "fresh", limit: 3, window: 1 }], store, storeTimeoutMs },
      { driver: await driver() },
    );
    // On a machine of any speed, no window allows more than its three.
    const round = async (): Promise<void> => {
      const from = Date.now();
      const passed = await letThrough(times(20, () => status("/report")));
      expect(passed).toBeGreaterThanOrEqual(3);
      expect(passed).toBeLessThanOrEqual(3 * (1 + Math.ceil((Date.now() - from) / 1_000)));
    };
    await round();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await round();
  });
});

describe("the database", () => {
  it("stores no addresses or user ids in clear, and removes expired windows", async () => {
    const { status } = await serveLimited(
      {
        policies: [{ name: "gone", limit: 9, window: 1 }],
        store: databaseRateStore({ cleanUpSeconds: 1 }),
        storeTimeoutMs,
      },
      { driver: postgres(database.url) },
    );
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    onTestFinished(() => client.end());
    const rows = async () => (await client.query('SELECT * FROM "rateWindow"')).rows;
    await status("/report", undefined, "ann-the-user");
    await status("/report");
    expect(JSON.stringify(await rows())).not.toMatch(/ann-the-user|127\.0\.0\.1/);
    const ended = async () => (await rows()).filter(({ endsAt }) => endsAt < new Date(Date.now() - 5_000)).length;
    await expect.poll(ended, { timeout: 10_000 }).toBe(0);
    await expect.poll(async () => (await rows()).length, { timeout: 10_000 }).toBeLessThan(3);
  });
});

describe("two processes", () => {
  it("share a quota, in Redis and in PostgreSQL", async () => {
    const words = [`test:${randomUUID()}`, database.url];
    const children = await Promise.all([startChild(words), startChild(words)]);
    onTestFinished(async () => {
      for (const { child } of children) child.kill("SIGKILL");
      await Promise.all(children.map(({ ended }) => ended));
    });
    const ask = async (port: number) => (await fetch(`http://127.0.0.1:${port}/api/films`)).status;
    for (const store of ["redis", "database"] as const) {
      const [first, second] = children.map((child) => child[store]) as [number, number];
      expect(await letThrough(times(100, (index) => ask(index % 2 === 0 ? first : second)))).toBe(40);
      expect([await ask(first), await ask(second)]).toEqual([429, 429]);
    }
  });
});

async function startChild(words: readonly string[]) {
  const child = spawn(process.execPath, [await childProgram(CHILD), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  let told = "";
  for await (const chunk of child.stdout) {
    told += chunk;
    const [, redis, database] = /localhost:(\d+)\/(\d+)\//.exec(told) ?? [];
    if (database !== undefined) return { child, ended, redis: Number(redis), database: Number(database) };
  }
  throw new Error(`The process has ended with ${(await ended)[0]}:\n${told}`);
}
