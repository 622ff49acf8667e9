import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./postgres-server.ts";

const DEFAULT_URL = "mysql://root@127.0.0.1:3306/";

/** The part of the connector that tests use; it is installed with Prisma's adapter. */
interface Connection {
  query(sql: string): Promise<Record<string, unknown>[]>;
  end(): Promise<void>;
}

/** The connector of Prisma's adapter. */
function connector(): { createConnection(options: object): Promise<Connection> } {
  const adapter = createRequire(import.meta.url).resolve("@prisma/adapter-mariadb");
  return createRequire(adapter)("mariadb");
}

/** @param isForMany whether one message may hold several statements */
export function connectMysql(url: string, isForMany = false): Promise<Connection> {
  const { hostname: host, port, username: user, password, pathname } = new URL(url);
  const options = { host, port: Number(port || 3306), user, password, database: pathname.slice(1) };
  return connector().createConnection({ ...options, multipleStatements: isForMany });
}

/** Queries a MySQL or MariaDB database directly. */
export async function askMysql(url: string, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const connection = await connectMysql(url);
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = await connection.query(statement);
    return rows;
  } finally {
    await connection.end();
  }
}

/** Connection string of the server: MYSQL_URL, or the local one. */
export function mysqlServerUrl(): string {
  return process.env.MYSQL_URL ?? DEFAULT_URL;
}

function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || 3306), timeout: 2_000 });
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", end(true)).once("error", end(false)).once("timeout", end(false));
  });
}

/** The reason why tests with MariaDB cannot run here; undefined when they can. */
export async function whyNoMysql(): Promise<string | undefined> {
  if (await isListening(mysqlServerUrl())) return undefined;
  return "no MariaDB answers at 127.0.0.1:3306 and none is installed; install mariadb-server, or name one in MYSQL_URL";
}

/** Starts the MariaDB installed on this machine, in a new folder; undefined if there is none. */
async function startServer(): Promise<{ url: string; stop(): Promise<void> } | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-mariadb-"));
  const data = join(folder, "data");
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const made = spawnSync(
    "mariadb-install-db",
    ["--no-defaults", `--datadir=${data}`, "--auth-root-authentication-method=normal", "--skip-test-db", ...user],
    { encoding: "utf8" },
  );
  if (made.error !== undefined || made.status !== 0) {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  }
  const port = await freePort();
  const url = `mysql://root@127.0.0.1:${port}/`;
  const options = [
    ...["--no-defaults", `--datadir=${data}`, `--socket=${join(folder, "socket")}`, ...user],
    ...["--bind-address=127.0.0.1", `--port=${port}`, "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0"],
  ];
  const server = spawn("mariadbd", options, { stdio: "ignore" });
  const ended = once(server, "exit");
  while (!(await isListening(url)))
    if (server.exitCode !== null) throw new Error(`MariaDB has ended with ${server.exitCode}; data in ${data}`);
    else await sleep(100);
  return {
    url,
    async stop() {
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** vitest's global set-up: one server for the whole run, if MariaDB is installed and not running. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (await isListening(mysqlServerUrl())) return undefined;
  const server = await startServer();
  if (server === undefined) return undefined;
  process.env.MYSQL_URL = server.url;
  return server.stop;
}
