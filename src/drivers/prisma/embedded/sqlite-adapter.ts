import type { SqlDriverAdapter, Transaction } from "@prisma/driver-adapter-utils";
import { isSqliteBusy, runStatement } from "../../sql/index.ts";

// Prisma's adapter opens a connection for each transaction that is never closed and lacks Keelson's settings, and it
// makes reads wait until the transaction ends. This one keeps two connections: one reads, the other writes and runs
// transactions. With a write-ahead log a reader never waits for the writer. Writes take turns in the driver's queue.

/** A connection to a SQLite file; transactions are begun and ended by statements. */
export type SqliteConnection = Omit<SqlDriverAdapter, "startTransaction">;

/** What opens a connection each time. */
export interface SqliteFactory extends Pick<SqlDriverAdapter, "provider" | "adapterName"> {
  connect(): Promise<SqliteConnection>;
}

/** Milliseconds that SQLite itself waits for another process; it blocks the event loop, so the driver does the waiting. */
const BUSY_MS = 20;
/** What SQLite takes; Prisma assumes 999, its limit before 2020. */
const MAX_PARAMETERS = 32_766;

const SETTINGS = [
  `PRAGMA busy_timeout = ${BUSY_MS}`,
  "PRAGMA journal_mode = WAL",
  // A power cut may lose the last commits, but corrupts nothing.
  "PRAGMA synchronous = NORMAL",
  "PRAGMA foreign_keys = ON",
];

async function openConnection(factory: SqliteFactory): Promise<SqliteConnection> {
  const adapter = await factory.connect();
  try {
    for (const setting of SETTINGS) await runStatement(adapter, setting);
  } catch (error) {
    await adapter.dispose();
    throw error;
  }
  return adapter;
}

/** A connection that is replaced when SQLite said “busy”: libsql leaves that statement open, and no COMMIT succeeds then. */
interface Connection {
  use<T>(work: (adapter: SqliteConnection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

async function openReplaceable(factory: SqliteFactory): Promise<Connection> {
  let adapter = await openConnection(factory);
  return {
    async use(work) {
      try {
        return await work(adapter);
      } catch (error) {
        if (isSqliteBusy(error)) {
          await adapter.dispose();
          adapter = await openConnection(factory);
        }
        throw error;
      }
    },
    close: () => adapter.dispose(),
  };
}

async function beginTransaction(connection: Connection): Promise<Transaction> {
  // IMMEDIATE: a transaction that begins by reading could not become a writer when another process wrote meanwhile.
  const writer = await connection.use((adapter) => runStatement(adapter, "BEGIN IMMEDIATE").then(() => adapter));
  return {
    provider: writer.provider,
    adapterName: writer.adapterName,
    // Prisma leaves COMMIT and ROLLBACK to the methods below.
    options: { usePhantomQuery: true },
    queryRaw: (query) => writer.queryRaw(query),
    executeRaw: (query) => writer.executeRaw(query),
    commit: async () => void (await runStatement(writer, "COMMIT")),
    rollback: async () => void (await runStatement(writer, "ROLLBACK")),
    createSavepoint: async (name) => void (await runStatement(writer, `SAVEPOINT ${name}`)),
    rollbackToSavepoint: async (name) => void (await runStatement(writer, `ROLLBACK TO ${name}`)),
    releaseSavepoint: async (name) => void (await runStatement(writer, `RELEASE SAVEPOINT ${name}`)),
  };
}

/**
 * A driver adapter for a SQLite file, with a reading and a writing connection that are opened at once.
 * @param factory Prisma's own, or another one
 */
export async function openSqlite(factory: SqliteFactory): Promise<SqlDriverAdapter> {
  const writer = await openReplaceable(factory);
  const reader = await openReplaceable(factory);
  const connectionFor = (sql: string): Connection => (/^select/i.test(sql) ? reader : writer);
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    queryRaw: (query) => connectionFor(query.sql).use((adapter) => adapter.queryRaw(query)),
    executeRaw: (query) => writer.use((adapter) => adapter.executeRaw(query)),
    executeScript: (script) => writer.use((adapter) => adapter.executeScript(script)),
    startTransaction: () => beginTransaction(writer),
    getConnectionInfo: () => ({ supportsRelationJoins: false, maxBindValues: MAX_PARAMETERS }),
    async dispose() {
      await reader.close();
      await writer.close();
    },
  };
}
