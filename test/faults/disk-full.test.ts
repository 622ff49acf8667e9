import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { createClient } from "@libsql/client";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { postgres } from "../../src/index.ts";
import { childProgram } from "../support/child-program.ts";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { noteApp, unavailable } from "../support/faults/note-app.ts";
import { type JsonResponse, request, startApp } from "../support/http.ts";
import { told } from "../support/told.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const LONG = "x".repeat(200);

/** Creates notes one after the other until one is refused; returns the acknowledged ones, and the refusal. */
async function fill(url: string, prefix: string): Promise<{ acknowledged: string[]; refused: JsonResponse }> {
  const acknowledged: string[] = [];
  for (;;) {
    const text = `${prefix}-${acknowledged.length}-${LONG}`;
    const answer = await request(url, "POST", "/api/notes", { body: { text } });
    if (answer.status !== 201) return { acknowledged, refused: answer };
    acknowledged.push(text);
  }
}

/** The largest file that a process may write: unlimited, or limited to the current size of its files, or a little more. */
function limitFiles(child: ChildProcess, bytes: number | undefined): void {
  const limit = bytes === undefined ? "unlimited" : `${bytes}:unlimited`;
  execFileSync("prlimit", ["--pid", String(child.pid), `--fsize=${limit}`]);
}

describe("a SQLite file that cannot grow", () => {
  it("gives 503 for writes only, recovers when there is space, and loses nothing", async () => {
    const { file, remove } = await freshSqliteFile();
    cleanups.push(remove);
    const script = await childProgram(new URL("../support/faults/note.child.ts", import.meta.url));
    const child = spawn(process.execPath, [script, file], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    cleanups.push(async () => child.kill("SIGKILL"));
    const url = `http://127.0.0.1:${await told<number>(child, "port")}`;
    const { id } = (await request(url, "POST", "/api/notes", { body: { text: "first" } })).json;

    const sizes = await Promise.all([file, `${file}-wal`].map(async (path) => (await stat(path)).size));
    limitFiles(child, Math.max(...sizes) + 100_000);
    const { acknowledged, refused } = await fill(url, "full");
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(unavailable(refused)).toBeUndefined();
    const others = await Promise.all([
      request(url, "PATCH", `/api/notes/${id}`, { body: { text: "changed" } }),
      request(url, "DELETE", `/api/notes/${id}`),
      request(url, "PUT", "/api/notes/bulk", { body: { ids: [id], data: { size: 1 } } }),
    ]);
    expect(others.map(unavailable)).toEqual([undefined, undefined, undefined]);
    expect((await request(url, "GET", `/api/notes/${id}`)).json).toMatchObject({ text: "first", size: 0 });
    const list = await request(url, "GET", "/api/notes?_limit=1");
    expect(list.headers.get("x-total-count")).toBe(String(acknowledged.length + 1));

    limitFiles(child, undefined);
    const after = await request(url, "POST", "/api/notes", { body: { text: "after" } });
    expect(after.status).toBe(201);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);

    const client = createClient({ url: `file:${file}` });
    expect((await client.execute("PRAGMA integrity_check")).rows).toEqual([{ integrity_check: "ok" }]);
    const { rows } = await client.execute("SELECT text FROM note ORDER BY id");
    client.close();
    expect(rows.map(({ text }) => text)).toEqual(["first", ...acknowledged, "after"]);
  });
});

describe("a PostgreSQL server", () => {
  async function start(): Promise<{ url: string; client: pg.Client }> {
    const database = await freshPostgres();
    cleanups.push(database.drop);
    const api = noteApp(postgres(database.url, { poolSize: 3 }));
    const { url, close } = await startApp(api);
    cleanups.push(close);
    await api.ready;
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    cleanups.push(() => client.end());
    return { url, client };
  }
  const notes = async (client: pg.Client) =>
    (await client.query<{ text: string }>("SELECT text FROM note ORDER BY id")).rows.map(({ text }) => text);

  it("with a full disk gives 503 for writes only, and recovers when there is space", async () => {
    const { url, client } = await start();
    const { id } = (await request(url, "POST", "/api/notes", { body: { text: "first" } })).json;
    // The server's own error for a full disk (53100), in the statement that writes.
    await client.query(`
      CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN COPY (SELECT 1) TO '/dev/full'; RETURN NEW; END $$;
      CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON note FOR EACH ROW EXECUTE FUNCTION no_room()`);
    const answers = await Promise.all([
      request(url, "POST", "/api/notes", { body: { text: "lost" } }),
      request(url, "POST", "/api/notes/slow", { body: { milliseconds: 1 } }),
      request(url, "PATCH", `/api/notes/${id}`, { body: { text: "changed" } }),
      request(url, "PUT", "/api/notes/bulk", { body: { ids: [id], data: { size: 1 } } }),
    ]);
    expect(answers.map(unavailable)).toEqual([undefined, undefined, undefined, undefined]);
    expect((await request(url, "GET", `/api/notes/${id}`)).json).toMatchObject({ text: "first", size: 0 });
    await client.query("DROP TRIGGER no_room ON note");
    expect((await request(url, "POST", "/api/notes", { body: { text: "after" } })).status).toBe(201);
    expect(await notes(client)).toEqual(["first", "after"]);
    const entries = await client.query(`SELECT count(*)::int AS count FROM "auditEntry"`);
    expect(entries.rows).toEqual([{ count: 2 }]);
  });

  it("in read-only mode gives 503 for writes, and recovers when writes are allowed", async () => {
    const { url, client } = await start();
    const { id } = (await request(url, "POST", "/api/notes", { body: { text: "first" } })).json;
    const switchTo = async (mode: "on" | "off"): Promise<void> => {
      await client.query("SET default_transaction_read_only = off");
      const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
      await client.query(`ALTER DATABASE ${rows[0]?.name} SET default_transaction_read_only = ${mode}`);
      // Each connection keeps the setting it started with.
      await client.query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    };
    await switchTo("on");
    const answers = [
      await request(url, "POST", "/api/notes", { body: { text: "lost" } }),
      await request(url, "PATCH", `/api/notes/${id}`, { body: { text: "changed" } }),
      await request(url, "DELETE", `/api/notes/${id}`),
    ];
    expect(answers.map(unavailable)).toEqual([undefined, undefined, undefined]);
    expect((await request(url, "GET", "/api/notes")).json).toMatchObject([{ text: "first" }]);
    await switchTo("off");
    expect((await request(url, "POST", "/api/notes", { body: { text: "after" } })).status).toBe(201);
    expect(await notes(client)).toEqual(["first", "after"]);
  });
});
