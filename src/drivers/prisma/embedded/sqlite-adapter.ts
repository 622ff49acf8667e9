import type { SqlDriverAdapter, Transaction } from "@prisma/driver-adapter-utils";
import { isSqliteBusy, runStatement } from "../../sql/index.ts";

// Prisma's adapter opens a connection for each transaction, which is never closed and lacks Keelson's settings, and it
// makes reads wait until the transaction ends. This adapter keeps two connections: one reads, the other writes and runs
// transactions. With a write-ahead log, a reader never waits for the writer. Writes take turns in the driver's queue.

/** A connection to a SQLite file; transactions are begun and ended with statements. */
export type SqliteConnection = Omit<SqlDriverAdapter, "startTransaction">;

/** Opens connections. */
export interface SqliteFactory extends Pick<SqlDriverAdapter, "provider" | "adapterName"> {
  connect(): Promise<SqliteConnection>;
}

/**
 * Milliseconds that SQLite itself waits for another process; that blocks the event loop, so the driver waits instead.
 */
const BUSY_MS = 20;
/** SQLite's limit of parameters; Prisma assumes 999, the limit before 2020. */
const MAX_PARAMETERS = 32_766;

const SETTINGS = [
  `PRAGMA busy_timeout = ${BUSY_MS}`,
  "PRAGMA journal_mode = WAL",
  // A power failure may lose the last commits, but does not corrupt the file.
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

/**
 * A connection that is replaced after SQLite reported “busy”: libsql leaves that statement open, and no COMMIT succeeds
 * then.
 */
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
  // IMMEDIATE, because a transaction that begins with a read cannot write if another process has written meanwhile.
  const writer = await connection.use((adapter) => runStatement(adapter, "BEGIN IMMEDIATE").then(() => adapter));
  return {
    provider: writer.provider,
    adapterName: writer.adapterName,
    // Prisma then leaves COMMIT and ROLLBACK to the methods below.
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
 * Opens a driver adapter for a SQLite file, with one connection for reading and one for writing.
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
