import { ConfigurationError } from "../../../entity/index.ts";
import type { Driver, Logger } from "../../../kernel/index.ts";
import { createPrismaDriver } from "../create-prisma-driver.ts";
import { DIALECTS } from "../dialect.ts";
import { toPrismaSchema } from "../schema/to-prisma-schema.ts";
import { BUILD_PACKAGES, buildClient, compileCompiler } from "./build-client.ts";
import { loadPeers } from "./load-peers.ts";
import { openingError } from "./opening-error.ts";
import { postgresTables } from "./postgres-tables.ts";
import { ENGINE_PACKAGES, startSchemaEngine } from "./schema-engine.ts";
import { schemaOf } from "./schema-of.ts";
import { statementNames } from "./statement-names.ts";
import { pendingChanges, pushSchema, type SchemaTarget } from "./sync-schema.ts";

/** Options of `postgres`. */
export interface PostgresOptions {
  /** Connections that are open at most. @default 10 */
  readonly poolSize?: number | undefined;
  /** Milliseconds to wait for a connection, from the server or from the pool. @default 5000 */
  readonly connectionTimeout?: number | undefined;
  /** Milliseconds after which the server gives up a statement; 0 never. @default 30000 */
  readonly statementTimeout?: number | undefined;
  /** Named prepared statements; `false` for poolers that share connections between transactions. @default true */
  readonly preparedStatements?: boolean | undefined;
  /** "auto" changes the tables to fit the entities when the app starts outside production. @default "auto" */
  readonly push?: "auto" | "off" | undefined;
  /** Lets that change drop columns and tables with data. @default false */
  readonly acceptDataLoss?: boolean | undefined;
}

const PACKAGES = {
  ...BUILD_PACKAGES,
  ...ENGINE_PACKAGES,
  "@prisma/adapter-pg": () => import("@prisma/adapter-pg"),
  pg: () => import("pg"),
} as const;

/** Connections that break while nobody uses them are replaced by the pool; without a listener they end the process. */
function noteLostConnections(log: Logger): (error: Error) => void {
  return (error) => log.warn("A database connection was lost", { code: (error as { code?: unknown }).code });
}

/**
 * A driver for PostgreSQL and servers that speak its protocol, without `prisma generate`, with tables made from the
 * entities.
 * @param url Connection string; `?schema=` names a schema other than "public"
 * @throws ConfigurationError from `connect` naming the packages that are not installed; DatabaseUnavailableError when
 *   the server cannot be reached, after which `connect` may be tried again
 * @example
 * const api = keelson({ entities: [user, post], driver: postgres(process.env.DATABASE_URL) });
 */
export function postgres(url: string, options: PostgresOptions = {}): Driver {
  const { poolSize = 10, connectionTimeout = 5_000, statementTimeout = 30_000 } = options;
  const { preparedStatements = true, push = "auto", acceptDataLoss = false } = options;
  if (typeof url !== "string" || url === "")
    throw new ConfigurationError(
      "postgres(url) takes a connection string: postgres://user:password@host:5432/database",
    );
  const schemaName = schemaOf(url);
  const connection = { connectionString: url, connectionTimeoutMillis: connectionTimeout };

  return createPrismaDriver({
    name: "postgres",
    capabilities: Object.freeze({ concurrentTransactions: true, durable: true }),
    schema: (current) => {
      async function target(): Promise<SchemaTarget> {
        const { model } = current();
        const packages = await loadPeers("postgres", PACKAGES);
        const { PrismaPg } = packages["@prisma/adapter-pg"];
        return {
          packages,
          model,
          provider: "postgresql",
          schema: toPrismaSchema(model, { provider: "postgresql" }),
          option: "postgres(url, { acceptDataLoss: true })",
          acceptDataLoss,
          openTables() {
            const pool = new packages.pg.default.Pool({ ...connection, max: 1, idleTimeoutMillis: 0 });
            return postgresTables(pool, (own) => new PrismaPg(own, { schema: schemaName }), schemaName, model);
          },
        };
      }
      return {
        mode: push,
        push: async () => pushSchema(await target()),
        pending: async () => pendingChanges(await target()),
      };
    },
    reopens: true,
    async open({ model, log, production }) {
      // What takes long begins first and runs beside the rest; whoever needs it waits for it, and hears of failures.
      void compileCompiler("postgresql");
      const packages = await loadPeers("postgres", PACKAGES);
      if (push === "auto" && !production) void startSchemaEngine(packages).catch(() => undefined);
      const { PrismaPg } = packages["@prisma/adapter-pg"];
      const schema = toPrismaSchema(model, { provider: "postgresql" });
      const pool = {
        ...connection,
        max: poolSize,
        ...(statementTimeout > 0 ? { statement_timeout: statementTimeout } : {}),
      };
      const onLost = noteLostConnections(log);
      // The adapter makes the pool: when Prisma panics, it writes the adapter into its report, and fails at a pool.
      const adapter = new PrismaPg(pool, {
        schema: schemaName,
        onPoolError: onLost,
        onConnectionError: onLost,
        ...(preparedStatements ? { statementNameGenerator: statementNames() as () => string } : {}),
      });
      const client = buildClient(packages, schema, "postgresql", adapter);
      try {
        await client.$queryRawUnsafe("SELECT 1");
      } catch (error) {
        await client.$disconnect();
        throw openingError("postgres", error);
      }
      return { client, dialect: DIALECTS.postgresql, close: () => client.$disconnect() };
    },
  });
}
