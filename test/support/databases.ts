import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { askMysql, mysqlServerUrl } from "./mysql-server.ts";
import { serverUrl } from "./postgres-server.ts";

const unused = Symbol.for("keelson.test.databases");

/** Queries a PostgreSQL database directly. */
export async function askPostgres(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Unused databases of this run, for the next test that needs one; they survive module resets. */
const kept = globalThis as { [unused]?: string[] };

/** Name prefix of a run's databases; vitest's global set-up drops them. Others are dropped by their test. */
const prefix = (): string => `keelson_${process.env.KEELSON_TEST_RUN ?? ""}`;
const newName = (): string => `${prefix()}${randomUUID().replaceAll("-", "").slice(0, 16)}`;

const EMPTY = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
  END LOOP;
END $$; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC`;

// Tests kill processes, not this server, so a commit need not wait for the disk. Compiling a statement takes longer than
// running it on a few rows.
const settings = (name: string): string[] => [
  `ALTER DATABASE ${name} RESET ALL`,
  `ALTER DATABASE ${name} SET synchronous_commit = off`,
  `ALTER DATABASE ${name} SET jit = off`,
];

/** A used database, emptied, which takes a tenth of the time of creating one; undefined when there is none. */
async function usedBefore(server: string): Promise<string | undefined> {
  const name = kept[unused]?.pop();
  if (name === undefined) return undefined;
  const url = new URL(server);
  url.pathname = `/${name}`;
  return askPostgres(url.href, EMPTY, ...settings(name)).then(
    () => name,
    () => undefined,
  );
}

/** Disconnects all clients from a database and removes it. */
async function putAway(server: string, name: string): Promise<void> {
  const next = newName();
  const ended = `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE datname = '${name}'`;
  try {
    if (process.env.KEELSON_TEST_RUN === undefined) throw new TypeError("nobody would remove it");
    await askPostgres(server, ended, `ALTER DATABASE ${name} RENAME TO ${next}`);
    kept[unused] = [...(kept[unused] ?? []), next];
  } catch {
    await askPostgres(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

/** Creates an empty PostgreSQL database. */
export async function freshPostgres(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const server = await serverUrl();
  let name = await usedBefore(server);
  if (name === undefined) {
    name = newName();
    await askPostgres(server, `CREATE DATABASE ${name}`, ...settings(name));
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  const own = name;
  return { url: url.href, drop: () => putAway(server, own) };
}

/** Creates an empty MariaDB or MySQL database. */
export async function freshMysql(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const server = mysqlServerUrl();
  const name = `keelson_${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  await askMysql(server, [`CREATE DATABASE ${name}`]);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => askMysql(server, [`DROP DATABASE IF EXISTS ${name}`]).then(() => undefined) };
}

/** In memory on systems with such a folder: tests kill processes, not the machine. */
const FILES = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** The name of a SQLite file that does not exist yet, in a new folder. */
export async function freshSqliteFile(): Promise<{ readonly file: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(FILES, "keelson-sqlite-"));
  return { file: join(folder, "app.db"), remove: () => rm(folder, { recursive: true, force: true }) };
}
