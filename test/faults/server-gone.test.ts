import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { postgres } from "../../src/index.ts";
import { noteApp, unavailable, until, untilThere } from "../support/faults/note-app.ts";
import { type OwnPostgres, ownPostgres } from "../support/faults/own-postgres.ts";
import { type JsonResponse, type RunningApp, request, startApp } from "../support/http.ts";

let server: OwnPostgres;
let app: RunningApp;
let begun: () => number;
/** Ends processes that a failed test has left. */
let stopLoad: () => Promise<void> = async () => {};
const LIMITS = { requestMs: 2_500, hookMs: 1_000 };

beforeAll(async () => {
  server = await ownPostgres();
});
afterAll(() => server?.remove());
afterEach(async () => {
  server.thaw();
  await stopLoad();
  await app.close();
});

async function start(options: Parameters<typeof postgres>[1] = {}): Promise<void> {
  const api = noteApp(postgres(server.url, { poolSize: 4, connectionTimeout: 1_000, ...options }), LIMITS);
  begun = api.begun;
  app = await startApp(api);
  await api.ready;
}
const create = (text: string): Promise<JsonResponse> => request(app.url, "POST", "/api/notes", { body: { text } });

async function ask(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Writes one after the other on several lanes until stopped; returns the responses by text. */
function writing(prefix: string, lanes = 6) {
  const answers = new Map<string, JsonResponse>();
  let isOver = false;
  const lane = async (number: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const text = `${prefix}-${number}-${i}`;
      answers.set(text, await create(text));
    }
  };
  const done = Promise.all(Array.from({ length: lanes }, (_, i) => lane(i)));
  stopLoad = async () => {
    isOver = true;
    await done;
  };
  return {
    answers,
    acknowledged: () => [...answers].filter(([, { status }]) => status === 201).map(([text]) => text),
    stop: stopLoad,
  };
}

/** In every case: acknowledged records exist, no record exists twice, and each has one entry of its creation. */
async function expectKept(prefix: string, acknowledged: readonly string[]): Promise<void> {
  const rows = await ask(`SELECT id, text FROM note WHERE text LIKE '${prefix}-%'`);
  const texts = rows.map(({ text }) => text as string);
  expect(new Set(texts).size).toBe(texts.length);
  expect(acknowledged.filter((text) => !texts.includes(text))).toEqual([]);
  const entries = await ask(`SELECT "recordId" AS id FROM "auditEntry" WHERE "after"->>'text' LIKE '${prefix}-%'`);
  expect(entries.map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort());
}

describe("while a PostgreSQL server", () => {
  it.each(["stop", "kill"] as const)(
    "goes away by %s, responses are 503, and acknowledged records exist afterwards",
    async (how) => {
      await start();
      const load = writing(how);
      await until(() => load.acknowledged().length > 10);
      await server[how]();
      const before = load.answers.size;
      await until(() => load.answers.size > before + 10);
      await server.start();
      await untilThere(app.url);
      const again = load.acknowledged().length;
      await until(() => load.acknowledged().length > again + 10);
      await load.stop();
      const failed = [...load.answers.values()].filter(({ status }) => status !== 201);
      expect(failed.length).toBeGreaterThan(0);
      expect(failed.map(unavailable).filter(Boolean)).toEqual([]);
      await expectKept(how, load.acknowledged());
    },
  );

  it("ends connections repeatedly, each response is 201 or 503, and no write is lost", async () => {
    await start();
    const load = writing("thrown");
    for (let i = 0; i < 8; i++) {
      const seen = load.acknowledged().length;
      await until(() => load.acknowledged().length > seen + 3);
      await ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
    }
    await load.stop();
    const failed = [...load.answers.values()].filter(({ status }) => status !== 201);
    expect(failed.map(unavailable).filter(Boolean)).toEqual([]);
    await expectKept("thrown", load.acknowledged());
    expect((await create("after")).status).toBe(201);
  });

  it("hangs, requests still end, and all connections are usable afterwards", async () => {
    await start({ statementTimeout: 500 });
    expect((await create("hang-before")).status).toBe(201);
    server.freeze();
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, (_, i) => create(`hang-${i}`)),
      ...Array.from({ length: 6 }, () => request(app.url, "GET", "/api/notes")),
      request(app.url, "GET", "/health/ready"),
    ]);
    expect(answers.map(unavailable).filter(Boolean)).toEqual([]);
    expect((await request(app.url, "GET", "/health/live")).status).toBe(200);
    server.thaw();
    await untilThere(app.url);
    const after = await Promise.all(Array.from({ length: 12 }, (_, i) => create(`hang-after-${i}`)));
    expect(after.map(({ status }) => status)).toEqual(after.map(() => 201));
    await expectKept("hang", ["hang-before", ...after.map((_, i) => `hang-after-${i}`)]);
  });

  it("hangs forever, closing the app still ends", async () => {
    await start({ statementTimeout: 500 });
    server.freeze();
    const before = begun();
    const waiting = [create("closing-1"), create("closing-2")];
    await until(() => begun() === before + 2);
    const closed = app.close();
    expect((await Promise.all(waiting)).map(unavailable).filter(Boolean)).toEqual([]);
    await closed;
    server.thaw();
    await expectKept("closing", []);
  });
});
