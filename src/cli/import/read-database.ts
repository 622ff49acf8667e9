import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConfigurationError } from "../../entity/index.ts";
import type { Query, ReadOptions } from "./catalog-rows.ts";
import type { DatabaseShape } from "./database-shape.ts";
import { readMysql } from "./read-mysql.ts";
import { readPostgres } from "./read-postgres.ts";
import { readSqlite } from "./read-sqlite.ts";

/** The part of a driver adapter for reading. */
interface Adapter {
  queryRaw(query: { sql: string; args: unknown[]; argTypes: [] }): Promise<{
    readonly columnNames: readonly string[];
    readonly rows: readonly (readonly unknown[])[];
  }>;
  dispose(): Promise<void>;
}

interface Source {
  readonly open: (url: string) => Promise<Adapter>;
  readonly read: (query: Query, options: ReadOptions) => Promise<DatabaseShape>;
  readonly packages: string;
}

const POSTGRES: Source = {
  async open(url) {
    const { PrismaPg } = await import("@prisma/adapter-pg");
    return (await new PrismaPg({ connectionString: url }).connect()) as unknown as Adapter;
  },
  read: readPostgres,
  packages: "@prisma/adapter-pg pg",
};

const MYSQL: Source = {
  async open(url) {
    const { PrismaMariaDb } = await import("@prisma/adapter-mariadb");
    return (await new PrismaMariaDb(url.replace(/^mysql:/, "mariadb:")).connect()) as unknown as Adapter;
  },
  read: readMysql,
  packages: "@prisma/adapter-mariadb",
};

const SQLITE: Source = {
  async open(url) {
    const path = url.startsWith("file://") ? fileURLToPath(url) : resolve(url.slice("file:".length));
    const { PrismaLibSql } = await import("@prisma/adapter-libsql");
    return (await new PrismaLibSql({ url: pathToFileURL(path).href }).connect()) as unknown as Adapter;
  },
  read: readSqlite,
  packages: "@prisma/adapter-libsql",
};

const SOURCES: Readonly<Record<string, Source>> = {
  "postgres:": POSTGRES,
  "postgresql:": POSTGRES,
  "mysql:": MYSQL,
  "mariadb:": MYSQL,
  "file:": SQLITE,
};

/**
 * Reads the catalog of a database, without changing the database.
 * @param url its address: `postgresql:`, `mysql:`, `mariadb:` or `file:`
 * @throws ConfigurationError for another address, a package that is not installed, and a database that cannot be opened
 */
export async function readDatabase(url: string, options: ReadOptions = {}): Promise<DatabaseShape> {
  const source = SOURCES[/^[a-z]+:/.exec(url)?.[0] ?? ""];
  // The message omits the address, which may contain a password.
  if (source === undefined)
    throw new ConfigurationError("The address of a database begins with postgresql:, mysql:, mariadb: or file:");
  const adapter = await source.open(url).catch((error: unknown) => {
    const isMissing = (error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    throw isMissing
      ? new ConfigurationError(`keelson import needs packages that are not installed. Run: npm i ${source.packages}`)
      : unreadable(error);
  });
  const query: Query = async (sql) => {
    const { columnNames, rows } = await adapter.queryRaw({ sql, args: [], argTypes: [] });
    return rows.map((row) => Object.fromEntries(columnNames.map((name, index) => [name, row[index]])));
  };
  try {
    return await source.read(query, options);
  } catch (error) {
    throw error instanceof ConfigurationError ? error : unreadable(error);
  } finally {
    await adapter.dispose();
  }
}

function unreadable(error: unknown): ConfigurationError {
  const { message, cause } = error as {
    readonly message: string;
    readonly cause?: { readonly originalMessage?: string };
  };
  return new ConfigurationError(`The database cannot be read: ${cause?.originalMessage ?? message}`, { cause: error });
}
