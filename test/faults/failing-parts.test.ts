import { afterEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  createPlugin,
  datetime,
  entity,
  int,
  keelson,
  type Logger,
  noopLogger,
  type Plugin,
  restoreAction,
  softDeleteAction,
  string,
} from "../../src/index.ts";
import type { Operation } from "../../src/plugin.ts";
import { unavailable } from "../support/faults/note-app.ts";
import { type JsonResponse, type RunningApp, request, startApp } from "../support/http.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

const OPEN = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const note = entity("note", { text: string, size: int.default(0), deletedAt: datetime.optional() })
  .rules(OPEN)
  .actions({ softDelete: softDeleteAction, restore: restoreAction });
const other = entity("other", { name: string }).rules(OPEN);

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.each(SQL_DATABASES)("on %s", (_, open) => {
  let database: SqlDatabase;

  async function start(plugins: readonly Plugin[], logger: Logger = noopLogger, limits = {}): Promise<RunningApp> {
    database = await open();
    cleanups.push(database.drop);
    const { driver } = database;
    const api = keelson({ entities: [note, other], driver, plugins: [...plugins], logger, limits });
    const app = await startApp(api);
    cleanups.push(app.close);
    return app;
  }
  const create = (app: RunningApp, text: string): Promise<JsonResponse> =>
    request(app.url, "POST", "/api/notes", { body: { text } });
  const texts = async (app: RunningApp): Promise<string[]> =>
    (await request(app.url, "GET", "/api/notes?_sort=id")).json.map(({ text }: { text: string }) => text);

  /** A hook after the statement, in its transaction, that runs a test's code for the text "bad". */
  const forBad = (work: () => void | Promise<void>): Plugin =>
    createPlugin({
      id: "for-bad",
      hooks: {
        "operation:validate"(operation: Operation) {
          operation.transactional = true;
        },
        "operation:execute"({ kind, records: [record] }: Operation) {
          return kind === "create" && record?.text === "bad" ? work() : undefined;
        },
      },
    });

  it("a hook that never ends gives its request a 503, and its writes are rolled back", async () => {
    const app = await start([forBad(() => new Promise(() => {}))], noopLogger, { hookMs: 250 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(app, "bad")));
    expect(answers.map(unavailable)).toEqual(answers.map(() => undefined));
    expect((await create(app, "good")).status).toBe(201);
    expect(await texts(app)).toEqual(["good"]);
  });

  it("a hook that throws gives its request a 500, and its writes are rolled back", async () => {
    const secret = "postgres://user:pass@host/db";
    const app = await start([
      forBad(() => {
        throw new TypeError(secret);
      }),
    ]);
    const answer = await create(app, "bad");
    expect([answer.status, answer.json.code]).toEqual([500, "INTERNAL"]);
    expect(JSON.stringify(answer.json)).not.toContain(secret);
    expect((await create(app, "good")).status).toBe(201);
    expect(await texts(app)).toEqual(["good"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new TypeError("no disk");
      },
    ],
    ["rejects", () => Promise.reject(new TypeError("no disk"))],
  ])("a logger that %s changes no response", async (_, log) => {
    const failing = { debug: log, info: log, warn: log, error: log } as unknown as Logger;
    const app = await start(
      [
        forBad(() => {
          throw new TypeError("to be logged");
        }),
      ],
      failing,
    );
    expect((await create(app, "bad")).status).toBe(500);
    expect((await create(app, "good")).status).toBe(201);
    expect((await request(app.url, "GET", "/api/notes?unknown=1")).status).toBe(400);
    expect(await texts(app)).toEqual(["good"]);
  });

  it("a table that changes under an app fails where it is used, without details", async () => {
    const lines: string[] = [];
    const keep = (message: string, meta?: object): void => void lines.push(`${message} ${JSON.stringify(meta)}`);
    const app = await start([], { debug: () => {}, info: keep, warn: keep, error: keep });
    expect((await create(app, "first")).status).toBe(201);
    await database.rows('ALTER TABLE "note" RENAME COLUMN "size" TO "width"');
    for (const answer of [
      await request(app.url, "GET", "/api/notes"),
      await create(app, "second"),
      await request(app.url, "GET", "/api/notes?size=0"),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([500, "DATABASE_ERROR"]);
      expect(JSON.stringify(answer.json)).not.toMatch(/size|width|column|select|prisma/i);
    }
    expect(lines.some((line) => line.includes("note"))).toBe(true);
    expect((await request(app.url, "POST", "/api/others", { body: { name: "works" } })).status).toBe(201);
    await database.rows('ALTER TABLE "note" RENAME COLUMN "width" TO "size"');
    expect(await texts(app)).toEqual(["first"]);
  });

  it("columns that no entity has are in no response", async () => {
    const app = await start([]);
    const { id } = (await create(app, "first")).json;
    await database.rows(`ALTER TABLE "note" ADD COLUMN "hidden" TEXT DEFAULT 'canary'`);
    for (const path of ["/api/notes", `/api/notes/${id}`])
      expect(JSON.stringify((await request(app.url, "GET", path)).json)).not.toMatch(/hidden|canary/);
    for (const query of ["hidden=canary", "_sort=hidden", "select=hidden"])
      expect((await request(app.url, "GET", `/api/notes?${query}`)).status).toBe(400);
    expect((await request(app.url, "PATCH", `/api/notes/${id}`, { body: { text: "second" } })).json).not.toHaveProperty(
      "hidden",
    );
  });

  it("parallel updates and soft deletions of one record lose nothing acknowledged", async () => {
    const app = await start([]);
    for (let round = 0; round < 5; round++) {
      const { id } = (await create(app, "first")).json;
      const path = `/api/notes/${id}`;
      const [deleted, ...changed] = await Promise.all([
        request(app.url, "DELETE", `${path}/soft`),
        ...[1, 2, 3, 4].map((size) => request(app.url, "PATCH", path, { body: { size } })),
      ]);
      expect(deleted?.status).toBe(200);
      expect(changed.map(({ status }) => status).filter((status) => status !== 200 && status !== 404)).toEqual([]);
      const [row] = await database.rows(`SELECT size, "deletedAt" AS at FROM "note" WHERE id = '${id}'`);
      expect(row?.at).not.toBeNull();
      const acknowledged = changed.flatMap(({ status, json }) => (status === 200 ? [json.size] : []));
      expect([0, ...acknowledged]).toContain(Number(row?.size));
      if (acknowledged.length > 0) expect(Number(row?.size)).not.toBe(0);
    }
  });

  it("two hundred parallel requests of two callers each keep their own caller", async () => {
    database = await open();
    cleanups.push(database.drop);
    const person = entity("person", { name: string });
    const owned = entity("owned", { text: string, owner: belongsTo(() => person) })
      .ownedBy("owner")
      .rules({ create: ["authenticated"], read: ["owner"] });
    let turn = 0;
    const waits = createPlugin({
      id: "waits",
      hooks: {
        // A random number of turns, so that requests overtake each other.
        async "operation:validate"() {
          for (let left = (turn++ * 7) % 5; left > 0; left--) await new Promise((resolve) => setTimeout(resolve, 1));
        },
      },
    });
    const api = keelson({
      entities: [person, owned],
      driver: database.driver,
      plugins: [waits],
      logger: noopLogger,
      getUser: ({ headers }) => ({ id: headers.get("authorization")?.slice(7) ?? "nobody" }),
    });
    const app = await startApp(api);
    cleanups.push(app.close);
    for (const id of ["ann", "bob"]) await api.asSystem().person.create({ id, name: id });
    const caller = (index: number): string => (index % 2 === 0 ? "ann" : "bob");
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index < 100
          ? request(app.url, "POST", "/api/owneds", { token: caller(index), body: { text: caller(index) } })
          : request(app.url, "GET", "/api/owneds?_limit=200", { token: caller(index) }),
      ),
    );
    for (const [index, { status, json }] of answers.entries()) {
      expect(status).toBe(index < 100 ? 201 : 200);
      for (const { text, ownerId } of index < 100 ? [json] : json)
        expect([text, ownerId]).toEqual([caller(index), caller(index)]);
    }
    expect(await database.rows('SELECT id FROM "owned" WHERE text = "ownerId"')).toHaveLength(100);
  });
});
