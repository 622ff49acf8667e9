import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Pool } from "pg";
import type { NamedQuery } from "../sql/statement-cache.ts";
import { BOOLEAN, isTrue, PreparedQuery } from "./prepared-query.ts";

interface Rows {
  readonly rows: unknown[][];
}

const same = (text: string): string => text;

/** All but Booleans stays the server's text: whoever decodes a row knows its columns, and makes no text of text first. */
const TYPES = Object.freeze({ getTypeParser: (oid: number) => (oid === BOOLEAN ? isTrue : same) });

/**
 * The adapter with queries outside transactions straight on its pool. It would describe columns nobody asks about, write
 * moments anew that are decoded a moment later, and prepare a line for its debug log, for each of them. What fails is said
 * in the adapter's own words all the same.
 * @param named whether statements are prepared by name
 * @param explain An adapter whose queries fail with an error of the pool
 */
export function directQueries(
  adapter: SqlDriverAdapter,
  pool: Pool,
  named: boolean,
  explain: (error: unknown) => Promise<SqlQueryable>,
): SqlDriverAdapter {
  async function ask({ sql, args, statementName }: NamedQuery): Promise<Rows> {
    try {
      // A pool hands out what its client calls back with, whatever the types say of what can be submitted.
      if (named && statementName !== undefined)
        return await (pool.query(new PreparedQuery(statementName, sql, args)) as unknown as Promise<Rows>);
      return await pool.query({ text: sql, values: args, rowMode: "array", types: TYPES });
    } catch (error) {
      await (await explain(error)).queryRaw({ sql, args: [], argTypes: [] });
      throw error;
    }
  }
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    async queryRaw(query) {
      const { rows } = await ask(query as NamedQuery);
      return { columnNames: [], columnTypes: [], rows };
    },
    executeRaw: (query) => adapter.executeRaw(query),
    executeScript: (script) => adapter.executeScript(script),
    startTransaction: (isolation) => adapter.startTransaction(isolation),
    getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: false },
    dispose: () => adapter.dispose(),
  };
}
