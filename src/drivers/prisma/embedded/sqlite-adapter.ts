import type {
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
  SqlQuery,
  SqlResultSet,
  Transaction,
} from "@prisma/driver-adapter-utils";

// Prisma's adapter gives each transaction a connection that is never closed and has none of our settings, and makes
// reads wait for it to end. This one keeps two of its connections: one reads, one writes and runs transactions. With a
// write-ahead log a reader never waits for the writer. Writes take turns in the driver's queue.

/** Milliseconds that SQLite itself waits for another process; it blocks the event loop, so the driver does the waiting. */
const BUSY_MS = 20;
/** What SQLite takes; Prisma assumes 999, its limit before 2020. */
const MAX_PARAMETERS = 32_766;

const SETTINGS = [
  "PRAGMA journal_mode = WAL",
  // A power cut may lose the last commits, it corrupts nothing.
  "PRAGMA synchronous = NORMAL",
  "PRAGMA foreign_keys = ON",
  `PRAGMA busy_timeout = ${BUSY_MS}`,
];

/** Runs a statement that has no parameters. */
export function run(adapter: Pick<SqlDriverAdapter, "queryRaw">, sql: string): Promise<SqlResultSet> {
  return adapter.queryRaw({ sql, args: [], argTypes: [] });
}

/** Gives LIKE the escape character that it has by itself everywhere else, so that `%` and `_` can be searched for. */
function withEscape(query: SqlQuery): SqlQuery {
  if (!query.sql.includes(" LIKE (")) return query;
  return { ...query, sql: query.sql.replace(/ LIKE (\([^()]*\))/g, " LIKE $1 ESCAPE '\\'") };
}

async function openConnection(factory: SqlDriverAdapterFactory): Promise<SqlDriverAdapter> {
  const adapter = await factory.connect();
  try {
    for (const setting of SETTINGS) await run(adapter, setting);
  } catch (error) {
    await adapter.dispose();
    throw error;
  }
  return adapter;
}

async function beginTransaction(writer: SqlDriverAdapter): Promise<Transaction> {
  // IMMEDIATE: a transaction that begins by reading could not become a writer when another process wrote meanwhile.
  await run(writer, "BEGIN IMMEDIATE");
  return {
    provider: writer.provider,
    adapterName: writer.adapterName,
    // Prisma leaves COMMIT and ROLLBACK to the methods below.
    options: { usePhantomQuery: true },
    queryRaw: (query) => writer.queryRaw(withEscape(query)),
    executeRaw: (query) => writer.executeRaw(withEscape(query)),
    commit: async () => void (await run(writer, "COMMIT")),
    rollback: async () => void (await run(writer, "ROLLBACK")),
    createSavepoint: async (name) => void (await run(writer, `SAVEPOINT ${name}`)),
    rollbackToSavepoint: async (name) => void (await run(writer, `ROLLBACK TO ${name}`)),
    releaseSavepoint: async (name) => void (await run(writer, `RELEASE SAVEPOINT ${name}`)),
  };
}

/**
 * Prisma's adapter for a SQLite file, with a reading and a writing connection that are opened at once.
 * @param factory Prisma's own, which opens a connection each time
 */
export async function openSqlite(factory: SqlDriverAdapterFactory): Promise<SqlDriverAdapter> {
  const writer = await openConnection(factory);
  const reader = await openConnection(factory);
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    queryRaw: (query) => (query.sql.startsWith("SELECT") ? reader : writer).queryRaw(withEscape(query)),
    executeRaw: (query) => writer.executeRaw(withEscape(query)),
    executeScript: (script) => writer.executeScript(script),
    startTransaction: () => beginTransaction(writer),
    getConnectionInfo: () => ({ supportsRelationJoins: false, maxBindValues: MAX_PARAMETERS }),
    async dispose() {
      await reader.dispose();
      await writer.dispose();
    },
  };
}
