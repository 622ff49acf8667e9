import type { SqlQuery, SqlResultSet, Transaction } from "@prisma/driver-adapter-utils";
import type { Pool, PoolClient } from "pg";
import { type CommandBefore, PreparedQuery } from "./prepared-query.ts";

/** The parts of a transaction on a pool. */
export interface PoolTransactionParts {
  readonly pool: Pool;
  /** Returns the name to prepare a statement with; undefined for unprepared statements. */
  readonly nameOf: (query: object) => string | undefined;
  readonly begin: CommandBefore;
  /** Throws an error of the pool in the adapter's form. */
  explain(error: unknown, sql: string): Promise<never>;
}

/**
 * A transaction on one connection of a pool. `BEGIN` is sent together with the first statement, without waiting for its
 * result; a transaction without statements sends nothing.
 */
export async function poolTransaction(adapterName: string, parts: PoolTransactionParts): Promise<Transaction> {
  const client = await parts.pool.connect().catch((error: unknown) => parts.explain(error, parts.begin.text));
  return new PoolTransaction(adapterName, client, parts);
}

class PoolTransaction implements Transaction {
  readonly provider = "postgres";
  readonly adapterName: string;
  readonly options = { usePhantomQuery: true };
  readonly #client: PoolClient;
  readonly #parts: PoolTransactionParts;
  #isBegun = false;

  constructor(adapterName: string, client: PoolClient, parts: PoolTransactionParts) {
    this.adapterName = adapterName;
    this.#client = client;
    this.#parts = parts;
  }

  async queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    const { rows } = await this.#ask(query);
    return { columnNames: [], columnTypes: [], rows };
  }
  async executeRaw(query: SqlQuery): Promise<number> {
    return (await this.#ask(query)).count;
  }
  commit(): Promise<void> {
    return this.#end("COMMIT");
  }
  rollback(): Promise<void> {
    return this.#end("ROLLBACK");
  }
  createSavepoint(name: string): Promise<void> {
    return this.#run(`SAVEPOINT ${name}`);
  }
  rollbackToSavepoint(name: string): Promise<void> {
    return this.#run(`ROLLBACK TO SAVEPOINT ${name}`);
  }
  releaseSavepoint(name: string): Promise<void> {
    return this.#run(`RELEASE SAVEPOINT ${name}`);
  }

  async #ask(asked: SqlQuery) {
    const { sql, args } = asked;
    const { nameOf, begin, explain } = this.#parts;
    const before = this.#isBegun ? undefined : begin;
    this.#isBegun = true;
    const query = new PreparedQuery(nameOf(asked), sql, args, before);
    try {
      return await query.sentTo(this.#client);
    } catch (error) {
      return explain(error, sql);
    }
  }

  async #run(sql: string): Promise<void> {
    await this.#ask({ sql, args: [], argTypes: [] });
  }

  async #end(sql: string): Promise<void> {
    try {
      if (this.#isBegun) await this.#run(sql);
    } finally {
      this.#client.release();
    }
  }
}
