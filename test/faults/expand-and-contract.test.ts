import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openMigrations } from "../../src/drivers/prisma/index.ts";
import {
  belongsTo,
  type EntityLike,
  entity,
  enums,
  hasMany,
  int,
  keelson,
  manyToMany,
  noopLogger,
  postgres,
  string,
  text,
} from "../../src/index.ts";
import { freshPostgres } from "../support/databases.ts";
import { startApp } from "../support/http.ts";
import { amount, someOf } from "../support/suite.ts";

const OPEN = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] };
const base = { text: string.max(40), size: int.default(0), state: enums("open", "done").default("open") };
const before: readonly EntityLike[] = [entity("note", base).rules(OPEN)];

const note = (fields: Parameters<typeof entity>[1]) => entity("note", fields).rules(OPEN);
const tag = entity("tag", { word: string }).rules(OPEN);
const folder = entity("folder", { name: string, notes: hasMany(() => filed) }).rules(OPEN);
const filed = note({ ...base, folder: belongsTo(() => folder).optional() }) as never as EntityLike;

/** The later version's additions, its entities, and the extra values that it writes to a note. */
const ADDITIONS: readonly (readonly [string, readonly EntityLike[], object])[] = [
  ["a longer text", [note({ ...base, text: text.max(4_000) })], { text: "long ".repeat(100) }],
  ["a table", [...before, tag], {}],
  ["an optional column", [note({ ...base, color: string.optional() })], { color: "red" }],
  ["a column with a default", [note({ ...base, color: string.default("blue") })], { color: "red" }],
  ["an index", [entity("note", base).rules(OPEN).index(["size", "state"])], {}],
  ["a field that is no longer required", [note({ ...base, text: string.max(40).optional() })], { text: null }],
  ["a word of an enum", [note({ ...base, state: enums("open", "done", "gone").default("open") })], { state: "gone" }],
  ["an optional relation", [filed, folder], {}],
  ["pairs of another table", [note({ ...base, tags: manyToMany(() => tag) }), tag], {}],
  ["versions", [entity("note", base).rules(OPEN).versioned()], {}],
];

/**
 * Requests of one version, one after the other, until they are stopped; responses with new values are not compared with an
 * old version's document.
 */
function keepAsking(url: string, more: object) {
  const failed: string[] = [];
  let isOver = false;
  let rounds = 0;
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { "content-type": "application/json" };
    const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/notes${path}`, { method, ...init });
    const text = await answer.text();
    if (answer.status >= 400) failed.push(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  const done = (async () => {
    for (; !isOver; rounds++) {
      const { id } = await ask("POST", "", { text: "a", ...more });
      await ask("PATCH", `/${id}`, { size: rounds });
      await ask("GET", `/${id}`);
      await ask("GET", "?_sort=-createdAt&_limit=5&size_gte=0");
      if (rounds % 3 === 0) await ask("DELETE", `/${id}`);
    }
  })();
  return {
    failed,
    async turns(more: number) {
      const until = rounds + more;
      while (rounds < until && failed.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    stop: async () => {
      isOver = true;
      await done;
      return failed;
    },
  };
}

describe("two versions on one database, of which the later one adds", () => {
  const ROUNDS = amount(4, 40);
  const cleanups: (() => Promise<unknown>)[] = [];
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "keelson-versions-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  it.each(someOf(ADDITIONS, 4))("%s: no request of either version fails", async (what, after, more) => {
    const database = await freshPostgres();
    cleanups.push(database.drop);
    const start = async (entities: readonly EntityLike[], besides: object = {}) => {
      const api = keelson({
        entities: entities as never,
        driver: postgres(database.url, { push: "off" }),
        logger: noopLogger,
      });
      const { url, close } = await startApp(api);
      cleanups.push(close);
      const asking = keepAsking(url, besides);
      cleanups.push(asking.stop);
      return asking;
    };
    const migrate = async (entities: readonly EntityLike[], name: string) => {
      const target = { provider: "postgresql", url: database.url } as const;
      const migrations = await openMigrations({ entities, target, directory: join(directory, what) });
      await migrations.create(name);
      await migrations.deploy();
      await migrations.close();
    };
    await migrate(before, "begin");
    const old = await start(before);
    await old.turns(ROUNDS);
    await migrate(after, "add");
    await old.turns(ROUNDS);
    const later = await start(after, more);
    const restarted = await start(before);
    await Promise.all([old, later, restarted].map((asking) => asking.turns(ROUNDS)));
    expect(await Promise.all([old, later, restarted].map((asking) => asking.stop()))).toEqual([[], [], []]);
  });
});
