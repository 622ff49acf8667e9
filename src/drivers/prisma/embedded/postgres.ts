import type { Socket } from "node:net";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { Pool } from "pg";
import { ConfigurationError } from "../../../entity/index.ts";
import type { Driver } from "../../../gate/index.ts";
import {
  ALL_FAST,
  createDatabaseDriver,
  DIALECTS,
  type Fast,
  findMisfits,
  type NamedQuery,
  poolQueries,
  runStatement,
  sqlPath,
} from "../../sql/index.ts";
import { loadPeers, openingError, refuseWrongAddress } from "../engine/opening.ts";
import { POSTGRES_PACKAGES, postgresTables, schemaOf } from "../engine/postgres-tables.ts";
import { checkSchema, SCHEMA_PACKAGES, startSchemaEngine } from "../engine/schema-engine.ts";
import { pendingChanges, pushSchema, type SchemaTarget } from "../engine/sync-schema.ts";
import { managedSchema } from "../schema/to-prisma-schema.ts";
import { logLostConnections } from "./lost-connections.ts";

/** Options of `postgres`. */
export interface PostgresOptions {
  /** Maximum number of open connections. @default 10 */
  readonly poolSize?: number | undefined;
  /** Milliseconds to wait for a connection, from the server or from the pool; 0 waits indefinitely. @default 5000 */
  readonly connectionTimeout?: number | undefined;
  /**
   * Milliseconds after which the server cancels a statement; 0 disables the timeout. If the server does not respond for
   * another second, the connection is closed.
   * @default 30000
   */
  readonly statementTimeout?: number | undefined;
  /**
   * Milliseconds after which the server rolls back an idle transaction and releases its locks; 0 disables the timeout.
   * Keelson ends transactions after 30 s: this is for a process that hangs.
   * @default 60000
   */
  readonly idleTransactionTimeout?: number | undefined;
  /**
   * Whether to use named prepared statements; set to `false` for poolers that share connections between transactions.
   * @default true
   */
  readonly preparedStatements?: boolean | undefined;
  /** "auto" changes the tables to match the entities when the app starts outside production. @default "auto" */
  readonly push?: "auto" | "off" | undefined;
  /** Whether `push` may drop columns and tables with data. @default false */
  readonly acceptDataLoss?: boolean | undefined;
}

/** Milliseconds that a server has to report that it cancelled a statement. */
const SILENCE_MS = 1_000;

/**
 * A driver for PostgreSQL and servers that speak its protocol, without `prisma generate`, with tables created from the
 * entities.
 * @param url connection string; `?schema=` selects a schema other than "public". Undefined, as from a missing
 *   environment variable, is an error of `connect`, so that tests and commands can read the configuration without it
 * @throws ConfigurationError immediately for a URL of another driver; from `connect` without a URL, or naming the packages
 *   that are not installed; DatabaseUnavailableError when the server cannot be reached, after which `connect` can be retried
 * @example
 * const api = keelson({ entities: [user, post], driver: postgres(process.env.DATABASE_URL) });
 */
export function postgres(url: string | undefined, options: PostgresOptions = {}): Driver {
  return openPostgres(url, options, ALL_FAST);
}

/** Like `postgres`, with some of the optimizations switched off. */
export function openPostgres(given: string | undefined, options: PostgresOptions, fast: Fast): Driver {
  const url = given ?? "";
  const { poolSize = 10, connectionTimeout = 5_000, statementTimeout = 30_000 } = options;
  const { idleTransactionTimeout = 60_000, preparedStatements = true, push = "auto", acceptDataLoss = false } = options;
  refuseWrongAddress("postgres(url)", url, /^(postgres|postgresql|socket):/);
  const schemaName = schemaOf(url);
  const connection = { connectionString: url, connectionTimeoutMillis: connectionTimeout };
  let opened: SqlDriverAdapter | undefined;

  return createDatabaseDriver(
    {
      name: "postgres",
      capabilities: Object.freeze({
        concurrentTransactions: true,
        locksInOrder: true,
        transactions: poolSize,
        durable: true,
      }),
      schema: (current) => {
        async function target(): Promise<SchemaTarget> {
          const { model } = current();
          const packages = await loadPeers("postgres", POSTGRES_PACKAGES);
          return {
            packages,
            model,
            provider: "postgresql",
            schema: managedSchema(model, "postgresql"),
            option: "postgres(url, { acceptDataLoss: true })",
            acceptDataLoss,
            openTables: () => postgresTables(packages, connection, schemaName, model),
          };
        }
        return {
          mode: push,
          push: async () => pushSchema(await target()),
          pending: async () => pendingChanges(await target()),
          misfits() {
            const fitting = { model: current().model, provider: "postgresql", schema: schemaName } as const;
            return findMisfits(opened as SqlDriverAdapter, fitting, push === "auto");
          },
        };
      },
      async open({ model, log, production }) {
        if (url === "")
          throw new ConfigurationError(
            "postgres(url) takes a connection string: postgres://user:password@host:5432/database. It was given nothing; if it comes from an environment variable such as DATABASE_URL, set that",
          );
        const packages = await loadPeers("postgres", POSTGRES_PACKAGES);
        // Loading is slow, so it starts in the background; code that needs the engine awaits it and gets its error.
        if (push === "auto" && !production) void startSchemaEngine(packages).catch(() => undefined);
        if (push === "auto") {
          const parser = await loadPeers("postgres", SCHEMA_PACKAGES);
          checkSchema(parser["@prisma/get-dmmf"], managedSchema(model, "postgresql"));
        }
        const pool = new packages.pg.default.Pool({
          ...connection,
          max: poolSize,
          allowExitOnIdle: true, // a script ends when its work is done
          ...(statementTimeout > 0 ? { statement_timeout: statementTimeout } : {}),
          ...(idleTransactionTimeout > 0 ? { idle_in_transaction_session_timeout: idleTransactionTimeout } : {}),
        });
        if (statementTimeout > 0) closeSilentConnections(pool, statementTimeout + SILENCE_MS);
        logLostConnections(pool, log);
        const { PrismaPg } = packages["@prisma/adapter-pg"];
        const names = statementNames();
        const own = await new PrismaPg(pool, {
          schema: schemaName,
          disposeExternalPool: true,
          ...(preparedStatements ? { statementNameGenerator: names.of as () => string } : {}),
        }).connect();
        // A separate pool without connections, because the adapter keeps a listener on its pool for the pool's
        // lifetime.
        const explain = (error: unknown): Promise<SqlDriverAdapter> =>
          new PrismaPg(Object.assign(new packages.pg.default.Pool(), { query: () => Promise.reject(error) })).connect();
        const { describedOnce, poolTransactions: transactions } = fast;
        const nameOf = preparedStatements ? names.of : () => undefined;
        const how = { nameOf, describedOnce, maxWait: connectionTimeout, transactions };
        const adapter = fast.poolQueries ? poolQueries(own, pool, how, explain) : own;
        try {
          await runStatement(adapter, "SELECT 1");
        } catch (error) {
          await adapter.dispose();
          throw openingError("postgres", error);
        }
        opened = adapter;
        const close = () => adapter.dispose();
        return {
          client: adapter,
          dialect: DIALECTS.postgresql,
          maxWait: connectionTimeout,
          prepareAnew: names.renew,
          close,
        };
      },
    },
    sqlPath(fast),
  );
}

/** Makes the names of statements: PostgreSQL parses and plans a named statement once per connection. */
function statementNames() {
  let generation = "";
  let turns = 0;
  return {
    of(query: object): string | undefined {
      const { statementName } = query as Partial<NamedQuery>;
      return statementName === undefined ? undefined : `${statementName}${generation}`;
    },
    /** Renames all statements; connections keep the old ones until they are closed. */
    renew(): void {
      generation = `_${++turns}`;
    },
  };
}

/**
 * Closes connections that stay silent during a statement. After a network failure, the pool would otherwise hand out
 * the connection until TCP gives up on it, a quarter of an hour later. `query_timeout` of `pg` would only abandon the
 * statement, and return the connection of a transaction to the pool.
 * @param ms milliseconds of silence
 */
function closeSilentConnections(pool: Pool, ms: number): void {
  pool.on("connect", (client) => {
    const stream = client.connection.stream as Socket;
    // The bytes sent when all statements were complete. Silence between the statements of a transaction is normal.
    let answered = stream.bytesWritten;
    client.on("drain", () => {
      answered = stream.bytesWritten;
    });
    stream.setTimeout(ms);
    // Not passed to `setTimeout`, which would call it only once.
    stream.on("timeout", () => {
      const isAsking = stream.bytesWritten > answered && !stream.writableEnded;
      if (isAsking) stream.destroy(new Error("Query read timeout"));
    });
  });
}
