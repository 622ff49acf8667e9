import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Pool } from "pg";
import { adapterLike, runStatement } from "../session/adapter.ts";
import type { NamedQuery } from "../statement/sql-connection.ts";
import { BOOLEAN, isTrue, PreparedQuery } from "./prepared-query.ts";

interface PoolOptions {
  /** The name that a statement is prepared by; undefined for none. */
  readonly nameOf: (query: NamedQuery) => string | undefined;
  /** Whether the columns of prepared statements are described once. */
  readonly describedOnce: boolean;
}

interface Rows {
  readonly rows: unknown[][];
}

const same = (text: string): string => text;

/** Leaves every value but Booleans as the server's text: rows are decoded later, where their columns are known. */
const TYPES = Object.freeze({ getTypeParser: (oid: number) => (oid === BOOLEAN ? isTrue : same) });

/**
 * The adapter, with queries outside transactions sent straight to its pool. For each of them Prisma's adapter would
 * describe columns that are never used, reformat datetimes that are decoded right after, and build a line for its debug
 * log. Errors are still reported in the adapter's own words.
 * @param explain An adapter whose queries fail with an error of the pool
 */
export function poolQueries(
  adapter: SqlDriverAdapter,
  pool: Pool,
  { nameOf, describedOnce }: PoolOptions,
  explain: (error: unknown) => Promise<SqlQueryable>,
): SqlDriverAdapter {
  async function ask(query: NamedQuery): Promise<Rows> {
    const { sql, args } = query;
    const name = nameOf(query);
    try {
      // A pool hands out what its client calls back with, whatever the declared types.
      if (describedOnce && name !== undefined)
        return await (pool.query(new PreparedQuery(name, sql, args)) as unknown as Promise<Rows>);
      return await pool.query({ ...(name && { name }), text: sql, values: args, rowMode: "array", types: TYPES });
    } catch (error) {
      await runStatement(await explain(error), sql);
      throw error;
    }
  }
  return adapterLike(adapter, {
    async queryRaw(query) {
      const { rows } = await ask(query as NamedQuery);
      return { columnNames: [], columnTypes: [], rows };
    },
  });
}
