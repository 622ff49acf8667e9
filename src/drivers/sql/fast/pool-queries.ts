import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Pool } from "pg";
import { adapterLike, runStatement } from "../session/adapter.ts";
import type { NamedQuery } from "../statement/sql-connection.ts";
import { poolTransaction } from "./pool-transaction.ts";
import { type Answered, BOOLEAN, isTrue, PreparedQuery } from "./prepared-query.ts";

interface PoolOptions {
  /** Returns the name to prepare a statement with; undefined for unprepared statements. */
  readonly nameOf: (query: object) => string | undefined;
  /** Whether the columns of prepared statements are described only once. */
  readonly describedOnce: boolean;
  /** Milliseconds that the start of a transaction may take. */
  readonly maxWait: number;
  /** Whether transactions bypass Prisma's adapter, too. */
  readonly transactions: boolean;
}

const same = (text: string): string => text;

/** Keeps all values but booleans as the server's texts: rows are decoded later, when their columns are known. */
const TYPES = Object.freeze({ getTypeParser: (oid: number) => (oid === BOOLEAN ? isTrue : same) });

/**
 * Wraps the adapter so that queries go directly to its pool, or to the pool connection of a transaction. Prisma's
 * adapter would, for each query, describe columns that are not used, reformat datetimes that are decoded afterwards,
 * and build a line for its debug log. Errors are still reported in the adapter's form.
 * @param explain makes an adapter whose queries fail with an error of the pool
 */
export function poolQueries(
  adapter: SqlDriverAdapter,
  pool: Pool,
  { nameOf, describedOnce, maxWait, transactions }: PoolOptions,
  explain: (error: unknown) => Promise<SqlQueryable>,
): SqlDriverAdapter {
  async function rethrow(error: unknown, sql: string): Promise<never> {
    await runStatement(await explain(withColumn(error)), sql);
    throw error;
  }
  async function ask(query: NamedQuery): Promise<Answered> {
    const { sql, args } = query;
    const name = nameOf(query);
    try {
      // A pool returns the result that its client passes to the callback, regardless of the declared types.
      if (describedOnce && name !== undefined)
        return await (pool.query(new PreparedQuery(name, sql, args)) as unknown as Promise<Answered>);
      const asked = { ...(name && { name }), text: sql, values: args, rowMode: "array", types: TYPES } as const;
      const { rows, rowCount } = await pool.query<Answered["rows"][number]>(asked);
      return { rows, count: rowCount ?? 0 };
    } catch (error) {
      return rethrow(error, sql);
    }
  }
  return adapterLike(adapter, {
    startTransaction(isolation) {
      if (!transactions) return adapter.startTransaction(isolation);
      const text = isolation === undefined ? "BEGIN" : `BEGIN ISOLATION LEVEL ${isolation}`;
      const begin = { text, timeout: maxWait };
      return poolTransaction(adapter.adapterName, { pool, nameOf, begin, explain: rethrow });
    },
    async queryRaw(query) {
      const { rows } = await ask(query as NamedQuery);
      return { columnNames: [], columnTypes: [], rows };
    },
    executeRaw: async (query) => (await ask(query as NamedQuery)).count,
  });
}

const DANGLING = /^Key \(([^(),]+)\)=\(.*\) is not present in table "[^"]*"\.$/s;

/**
 * Adds the column of a reference that leads to no record, which PostgreSQL only names in the detail: `Key (writer)=(x) is
 * not present in table "people".` The name of the constraint says nothing if others have created the table.
 */
function withColumn(error: unknown): unknown {
  const { code, detail } = error as { readonly code?: unknown; readonly detail?: unknown };
  const column = code === "23503" ? DANGLING.exec(String(detail))?.[1] : undefined;
  return column === undefined ? error : Object.assign(error as Error, { column });
}
