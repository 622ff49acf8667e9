import { createRequire } from "node:module";
import { connect } from "node:net";

const DEFAULT_URL = "mysql://root@127.0.0.1:3306/";

/** The part of the connector that tests use; it comes with Prisma's adapter. */
interface Connection {
  query(sql: string): Promise<Record<string, unknown>[]>;
  end(): Promise<void>;
}

/** The connector of Prisma's adapter. */
function connector(): { createConnection(options: object): Promise<Connection> } {
  const adapter = createRequire(import.meta.url).resolve("@prisma/adapter-mariadb");
  return createRequire(adapter)("mariadb");
}

/** Asks a MySQL or MariaDB database past the framework. */
export async function askMysql(url: string, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const { hostname: host, port, username: user, password, pathname } = new URL(url);
  const options = { host, port: Number(port || 3306), user, password, database: pathname.slice(1) };
  const connection = await connector().createConnection(options);
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

/**
 * Why tests with MariaDB cannot run here; undefined when they can. Where CI is set they run, and fail when no server
 * answers: nothing is skipped there.
 */
export async function whyNoMysql(): Promise<string | undefined> {
  if (process.env.CI !== undefined || (await isListening(mysqlServerUrl()))) return undefined;
  return "no MariaDB answers at 127.0.0.1:3306; start one, or name it in MYSQL_URL";
}
