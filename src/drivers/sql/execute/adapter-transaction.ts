import type { SqlDriverAdapter, SqlQueryable, Transaction } from "@prisma/driver-adapter-utils";
import { DatabaseUnavailableError } from "../../../kernel/index.ts";
import type { Transact, TransactLimits } from "../session/run-transaction.ts";

/** A transaction of an adapter. */
export const adapterTransaction: Transact<SqlQueryable, SqlDriverAdapter> = async (adapter, body, limits) => {
  const transaction = await begin(adapter, limits);
  let result: Awaited<ReturnType<typeof body>>;
  try {
    result = await body(transaction);
  } catch (error) {
    await rollback(transaction).catch(() => undefined); // the connection may be gone; the first failure counts
    throw error;
  }
  await commit(transaction);
  return result;
};

/** @throws DatabaseUnavailableError when no connection could be had in time */
async function begin(adapter: SqlDriverAdapter, { maxWait, asksReadCommitted }: TransactLimits): Promise<Transaction> {
  const isolation = asksReadCommitted ? "READ COMMITTED" : undefined;
  if (maxWait === 0) return adapter.startTransaction(isolation);
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const starting = adapter.startTransaction(isolation);
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new DatabaseUnavailableError());
    }, maxWait);
  });
  starting.then(
    // It began after `begin` had given up.
    (transaction) => (isLate ? rollback(transaction).catch(() => undefined) : undefined),
    () => undefined,
  );
  try {
    return await Promise.race([starting, late]);
  } finally {
    clearTimeout(timer);
  }
}

function statement(sql: string): { sql: string; args: unknown[]; argTypes: [] } {
  return { sql, args: [], argTypes: [] };
}

/** Some adapters leave COMMIT and ROLLBACK to their caller, and only release the connection. */
async function commit(transaction: Transaction): Promise<void> {
  const { options, provider } = transaction;
  try {
    if (!options.usePhantomQuery) await transaction.executeRaw(statement("COMMIT"));
  } catch (error) {
    await transaction.rollback().catch(() => undefined);
    throw error;
  }
  try {
    await transaction.commit();
  } catch (error) {
    // SQLite stays in a transaction that it could not commit.
    if (provider === "sqlite") await transaction.rollback().catch(() => undefined);
    throw error;
  }
}

async function rollback(transaction: Transaction): Promise<void> {
  try {
    if (!transaction.options.usePhantomQuery) await transaction.executeRaw(statement("ROLLBACK"));
  } finally {
    await transaction.rollback();
  }
}
