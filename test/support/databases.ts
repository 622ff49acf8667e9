import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { askMysql, mysqlServerUrl } from "./mysql-server.ts";
import { serverUrl } from "./postgres-server.ts";

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

/** An empty PostgreSQL database of its own. */
export async function freshPostgres(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const server = await serverUrl();
  const name = `keelson_${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  // Tests kill processes, not this server: a commit need not wait until it is on the disk.
  await askPostgres(server, `CREATE DATABASE ${name}`, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => askPostgres(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
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

/** The name of a SQLite file that does not exist yet, in a folder of its own. */
export async function freshSqliteFile(): Promise<{ readonly file: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-sqlite-"));
  return { file: join(folder, "app.db"), remove: () => rm(folder, { recursive: true, force: true }) };
}
