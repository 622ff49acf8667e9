import type { SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError, type Provider } from "../../entity/index.ts";
import type { Driver, DriverContext } from "../../gate/index.ts";
import { createDatabaseDriver, DIALECTS, type Dialect } from "../sql/index.ts";
import { checkClient } from "./client/check-client.ts";
import type { AnyPrismaClient, Client } from "./client/client-connection.ts";
import { CLIENT_PATH } from "./client/execute-by-client.ts";
import { logLostConnections, poolOf } from "./embedded/lost-connections.ts";
import { FOREIGN_PATH } from "./foreign-path.ts";

/** Options of `prisma`. */
export interface PrismaOptions {
  /** The database of the client. @default detected from its version query */
  readonly provider?: Provider | undefined;
  /**
   * The adapter that the client was created with. The driver then sends SQL directly to it, which takes a fraction of
   * the time. Client extensions and query logs do not see these statements, and tables and columns must have the names
   * of models and fields. Client and driver have separate connection pools, unless the adapter is a `sharedAdapter`.
   * @default statements go through the client
   */
  readonly adapter?: AnyAdapterFactory | undefined;
}

/** Any driver adapter of Prisma 7, as passed to `new PrismaClient({ adapter })`. */
export interface AnyAdapterFactory {
  readonly provider: string;
  readonly adapterName: string;
  connect(): Promise<object>;
}

/**
 * A driver for your PrismaClient that uses its public API only. Models, fields and manyToMany relations must have the
 * names that `toPrismaSchema` prints, including relation sides that no entity declares. You migrate the tables.
 * `api.close()` disconnects the client.
 * @param client a PrismaClient 7, also an extended one
 * @throws ConfigurationError from `connect` when a model, field, table or column is missing, or MySQL would compare
 *   text inexactly; immediately for an adapter of an unsupported database
 * @example const api = keelson({ entities: [user, post], driver: prisma(new PrismaClient({ adapter }), { adapter }) });
 */
export function prisma(client: AnyPrismaClient, options: PrismaOptions = {}): Driver {
  const { adapter } = options;
  const typed = client as unknown as Client;
  let provider = adapter === undefined ? options.provider : providerOf(adapter, options.provider);
  const capabilities = Object.freeze({
    /** Reliable once the driver is connected. */
    get concurrentTransactions() {
      return provider !== "sqlite";
    },
    get locksInOrder() {
      return provider === "postgresql";
    },
    durable: true,
  });

  async function check(context: DriverContext): Promise<Dialect> {
    provider = await checkClient(typed, context, provider, adapter !== undefined);
    return DIALECTS[provider];
  }

  if (adapter === undefined) {
    const close = () => typed.$disconnect();
    const open = async (context: DriverContext) => ({ client: typed, dialect: await check(context), close });
    return createDatabaseDriver({ name: "prisma", capabilities, open }, CLIENT_PATH);
  }

  async function openAdapter(context: DriverContext) {
    const dialect = await check(context);
    const own = await (adapter as unknown as SqlDriverAdapterFactory).connect();
    if (provider === "postgresql") logLostConnections(poolOf(own), context.log);
    async function close(): Promise<void> {
      await typed.$disconnect();
      await own.dispose();
    }
    return { client: own, dialect, close };
  }
  return createDatabaseDriver({ name: "prisma", capabilities, open: openAdapter }, FOREIGN_PATH);
}

/** Prisma's names of the supported databases. */
const ADAPTER_PROVIDERS: Readonly<Record<string, Provider>> = Object.freeze({
  postgres: "postgresql",
  sqlite: "sqlite",
  mysql: "mysql",
});

/** @throws ConfigurationError for an adapter of an unsupported database, or of another one than declared */
function providerOf(adapter: AnyAdapterFactory, said: Provider | undefined): Provider {
  const provider = ADAPTER_PROVIDERS[adapter.provider];
  if (provider === undefined || (said !== undefined && said !== provider))
    throw new ConfigurationError(
      `prisma(client, { adapter }) takes an adapter for PostgreSQL, SQLite or MySQL; this one is for "${adapter.provider}"`,
    );
  return provider;
}
