import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { askMysql, mysqlServerUrl } from "./mysql-server.ts";
import { serverUrl } from "./postgres-server.ts";

const unused = Symbol.for("keelson.test.databases");

/** Asks a PostgreSQL database past the framework. */
export async function askPostgres(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Databases of this run that nobody uses any more, for whoever needs one next; kept past fresh modules. */
const kept = globalThis as { [unused]?: string[] };

/** What a run's databases are called; vitest's global set-up removes them. Others are removed as soon as they are dropped. */
const prefix = (): string => `keelson_${process.env.KEELSON_TEST_RUN ?? ""}`;
const newName = (): string => `${prefix()}${randomUUID().replaceAll("-", "").slice(0, 16)}`;

const EMPTY = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
  END LOOP;
END $$; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC`;

// Tests kill processes, not this server: a commit need not wait until it is on the disk.
const settings = (name: string): string[] => [
  `ALTER DATABASE ${name} RESET ALL`,
  `ALTER DATABASE ${name} SET synchronous_commit = off`,
];

/** One that was used and is emptied, which takes a tenth of the time of making one; undefined where there is none. */
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

/** Takes a database from whoever still uses it: under its name there is none from now on. */
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

/** An empty PostgreSQL database of its own. */
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

/** An empty MariaDB or MySQL database of its own. */
export async function freshMysql(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const server = mysqlServerUrl();
  const name = `keelson_${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  await askMysql(server, [`CREATE DATABASE ${name}`]);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => askMysql(server, [`DROP DATABASE IF EXISTS ${name}`]).then(() => undefined) };
}

/** In memory where the system has such a folder: tests kill processes, not the machine. */
const FILES = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** The name of a SQLite file that does not exist yet, in a folder of its own. */
export async function freshSqliteFile(): Promise<{ readonly file: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(FILES, "keelson-sqlite-"));
  return { file: join(folder, "app.db"), remove: () => rm(folder, { recursive: true, force: true }) };
}
