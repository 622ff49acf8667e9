import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Pool } from "pg";
import { adapterLike, runStatement } from "../session/adapter.ts";
import type { NamedQuery } from "../statement/sql-connection.ts";
import { poolTransaction } from "./pool-transaction.ts";
import { BOOLEAN, isTrue, PreparedQuery } from "./prepared-query.ts";

interface Rows {
  readonly rows: unknown[][];
}

const same = (text: string): string => text;

/** Leaves every value but Booleans as the server's text: rows are decoded later, where their columns are known. */
const TYPES = Object.freeze({ getTypeParser: (oid: number) => (oid === BOOLEAN ? isTrue : same) });

/**
 * The adapter, with queries sent straight to its pool, or to the connection that a transaction has of it. For each of them Prisma's adapter would
 * describe columns that are never used, reformat datetimes that are decoded right after, and build a line for its debug
 * log. Errors are still reported in the adapter's own words.
 * @param how whether statements are prepared by name, their columns described once, and transactions sent to the pool as well
 * @param explain An adapter whose queries fail with an error of the pool
 * @param onLost called when a connection breaks that a transaction has
 */
export function poolQueries(
  adapter: SqlDriverAdapter,
  pool: Pool,
  {
    named,
    describedOnce,
    transactions,
  }: { readonly named: boolean; readonly describedOnce: boolean; readonly transactions: boolean },
  explain: (error: unknown) => Promise<SqlQueryable>,
  onLost: (error: Error) => void,
): SqlDriverAdapter {
  async function rethrow(error: unknown, sql: string): Promise<never> {
    await runStatement(await explain(error), sql);
    throw error;
  }
  async function ask({ sql, args, statementName }: NamedQuery): Promise<Rows> {
    const name = named ? statementName : undefined;
    try {
      // A pool hands out what its client calls back with, whatever the declared types.
      if (describedOnce && name !== undefined)
        return await (pool.query(new PreparedQuery(name, sql, args)) as unknown as Promise<Rows>);
      return await pool.query({ ...(name && { name }), text: sql, values: args, rowMode: "array", types: TYPES });
    } catch (error) {
      return rethrow(error, sql);
    }
  }
  return adapterLike(adapter, {
    startTransaction(isolation) {
      if (!transactions) return adapter.startTransaction(isolation);
      const begin = isolation === undefined ? "BEGIN" : `BEGIN ISOLATION LEVEL ${isolation}`;
      return poolTransaction(adapter.adapterName, { pool, named, begin, explain: rethrow, onLost });
    },
    async queryRaw(query) {
      const { rows } = await ask(query as NamedQuery);
      return { columnNames: [], columnTypes: [], rows };
    },
  });
}
