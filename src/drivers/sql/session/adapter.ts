import type { SqlDriverAdapter, SqlQueryable, SqlResultSet, Transaction } from "@prisma/driver-adapter-utils";
import { DatabaseUnavailableError } from "../../../kernel/index.ts";
import { type Transact, type TransactLimits, within } from "./session.ts";

/** Runs a statement that has no parameters. */
export function runStatement(adapter: Pick<SqlQueryable, "queryRaw">, sql: string): Promise<SqlResultSet> {
  return adapter.queryRaw({ sql, args: [], argTypes: [] });
}

/** Copies an adapter and replaces some of its methods. */
export function adapterLike(adapter: SqlDriverAdapter, own: Partial<SqlDriverAdapter>): SqlDriverAdapter {
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    executeScript: (script) => adapter.executeScript(script),
    startTransaction: (isolation) => adapter.startTransaction(isolation),
    getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: false },
    dispose: () => adapter.dispose(),
    ...own,
  };
}

/** Runs a transaction of an adapter. */
export const adapterTransaction: Transact<SqlQueryable, SqlDriverAdapter> = async (adapter, body, limits) => {
  const transaction = await begin(adapter, limits);
  let result: Awaited<ReturnType<typeof body>>;
  try {
    result = await body(transaction);
  } catch (error) {
    await rollback(transaction).catch(() => undefined); // the connection may be lost; the first error is reported
    throw error;
  }
  await commit(transaction);
  return result;
};

/** @throws DatabaseUnavailableError when no connection is free in time */
async function begin(adapter: SqlDriverAdapter, { maxWait, asksReadCommitted }: TransactLimits): Promise<Transaction> {
  const starting = adapter.startTransaction(asksReadCommitted ? "READ COMMITTED" : undefined);
  if (maxWait === 0) return starting;
  let isLate = false;
  starting.then(
    // It began after `begin` timed out.
    (transaction) => (isLate ? rollback(transaction).catch(() => undefined) : undefined),
    () => undefined,
  );
  return within(starting, maxWait, () => {
    isLate = true;
    return new DatabaseUnavailableError();
  });
}

/** Sends COMMIT or ROLLBACK if the adapter leaves them to its caller, and only releases the connection. */
async function end(transaction: Transaction, how: "COMMIT" | "ROLLBACK"): Promise<void> {
  if (!transaction.options.usePhantomQuery) await transaction.executeRaw({ sql: how, args: [], argTypes: [] });
}

async function commit(transaction: Transaction): Promise<void> {
  try {
    await end(transaction, "COMMIT");
  } catch (error) {
    await transaction.rollback().catch(() => undefined);
    throw error;
  }
  try {
    await transaction.commit();
  } catch (error) {
    // SQLite stays in a transaction that failed to commit.
    if (transaction.provider === "sqlite") await transaction.rollback().catch(() => undefined);
    throw error;
  }
}

async function rollback(transaction: Transaction): Promise<void> {
  try {
    await end(transaction, "ROLLBACK");
  } finally {
    await transaction.rollback();
  }
}
