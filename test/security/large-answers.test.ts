import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createClient } from "@libsql/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";

const RECORDS = 240;
const BODY = 1_000_000;
/** The byte limit of a page, and the size of the rest of its records. */
const MOST = 8_388_608 + 65_536;

interface Store {
  readonly kind: string;
  readonly place: string;
  fill(statements: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

async function sqlite(): Promise<Store> {
  const { file, remove } = await freshSqliteFile();
  return {
    kind: "sqlite",
    place: file,
    remove,
    async fill(statements) {
      const client = createClient({ url: pathToFileURL(file).href });
      for (const sql of ["PRAGMA synchronous = OFF", ...statements]) await client.execute(sql);
      client.close();
    },
  };
}

async function postgres(): Promise<Store> {
  const { url, drop } = await freshPostgres();
  return {
    kind: "postgres",
    place: url,
    remove: drop,
    async fill(statements) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      for (const sql of statements) await client.query(sql);
      await client.end();
    },
  };
}

/** Created by the database in one statement, so that no process holds them in memory. */
function records(kind: string): readonly string[] {
  const moment = kind === "sqlite" ? "'2024-01-01T00:00:00.000+00:00'" : "now()";
  const body = kind === "sqlite" ? `hex(zeroblob(${BODY / 2}))` : `repeat('0', ${BODY})`;
  return [
    `INSERT INTO author (id, name, "createdAt", "updatedAt") VALUES ('a', 'Ann', ${moment}, ${moment})`,
    `WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${RECORDS})
     INSERT INTO note (id, title, body, "authorId", "createdAt", "updatedAt")
     SELECT CAST(1000 + n AS text), 'Note', ${body}, 'a', ${moment}, ${moment} FROM count`,
  ];
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
])("240 records of 1 MB in %s, and a process with a heap of 192 MB", (_name, open) => {
  let store: Store;
  let server: ChildProcess;
  let url: string;

  async function get(path: string): Promise<Answer> {
    const response = await fetch(url + path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  const four = (path: string): Promise<Answer[]> => Promise.all([1, 2, 3, 4].map(() => get(path)));

  beforeAll(async () => {
    store = await open();
    const script = fileURLToPath(new URL("large-answers.child.ts", import.meta.url));
    server = spawn(process.execPath, ["--max-old-space-size=192", "--import", "tsx", script, store.kind, store.place], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const [message] = await once(server, "message");
    url = `http://127.0.0.1:${(message as { port: number }).port}/api`;
    await store.fill(records(store.kind));
  }, 60_000);
  afterAll(async () => {
    if (server?.connected) {
      const ended = once(server, "exit");
      server.send("close");
      await ended;
    }
    await store?.remove();
  });

  it("returns four parallel pages that stop at the byte limit, with a cursor", async () => {
    for (const { status, headers, text } of await four("/notes?_limit=1000")) {
      expect(status).toBe(200);
      expect(text.length).toBeLessThan(MOST);
      expect(headers.get("x-total-count")).toBe(String(RECORDS));
      expect(headers.get("link")).toContain("_after=");
      const ids = (JSON.parse(text) as { id: string }[]).map(({ id }) => id);
      expect(ids).toEqual(ids.map((_, index) => String(1001 + index)));
      const next = await get(`/notes?_limit=1&select=id&_after=${headers.get("x-next-cursor")}`);
      expect(JSON.parse(next.text)).toEqual([{ id: String(1001 + ids.length) }]);
    }
  });

  it("refuses pages by number that exceed the limit, and names it", async () => {
    for (const paging of ["_page=1&_limit=1000", "_start=0&_end=240"])
      expect(JSON.parse((await get(`/notes?${paging}`)).text)).toMatchObject({
        status: 400,
        message: expect.stringContaining("more than 8388608 bytes"),
      });
  });

  it("refuses includes that exceed the limit, in four parallel requests", async () => {
    for (const path of ["/authors?include=notes", "/authors/a?include=notes"])
      for (const { status, text } of await four(path)) {
        expect(status).toBe(400);
        expect(text).toContain("/notes?authorId=<id of the author>");
      }
  });

  it("returns a page of all records when short fields are selected", async () => {
    const { text } = await get("/notes?_limit=1000&select=title&_page=1");
    expect(JSON.parse(text)).toHaveLength(RECORDS);
  });

  it("starts four exports with a few records each", async () => {
    const begun = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const { body } = await fetch(`${url}/notes/export?format=ndjson`);
        const reader = (body as ReadableStream<Uint8Array>).getReader();
        const { value } = await reader.read();
        await reader.cancel();
        return value?.length;
      }),
    );
    for (const length of begun) expect(length).toBeGreaterThan(0);
    expect((await get("/authors")).status).toBe(200);
  });

  it("still runs", async () => {
    expect((await get("/authors/a")).status).toBe(200);
    expect(server.exitCode).toBeNull();
  });
});
