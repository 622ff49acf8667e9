import { ConfigurationError, type Provider } from "../../entity/index.ts";
import type { Driver, DriverCapabilities } from "../../kernel/index.ts";
import { ADAPTER_PROVIDERS, type AnyAdapterFactory } from "./adapter-shape.ts";
import { checkClient } from "./check-client.ts";
import { checkCollation } from "./check-collation.ts";
import { CLIENT_PATH } from "./client-path.ts";
import type { AnyPrismaClient, Client } from "./client-shape.ts";
import { createPrismaDriver } from "./create-prisma-driver.ts";
import { detectProvider } from "./detect-provider.ts";
import { DIALECTS } from "./dialect.ts";
import { shareAdapter } from "./sql/share-adapter.ts";
import { FOREIGN_SQL_PATH } from "./sql/sql-path.ts";
import { warnOfTakenValues } from "./warn-of-taken-values.ts";

/** Options of `prisma`. */
export interface PrismaOptions {
  /** The database behind the client. @default what it answers when asked for its version */
  readonly provider?: Provider | undefined;
  /**
   * The adapter that the client was made with. Statements then go straight to it, in SQL, which takes a fraction of the
   * time; client extensions and query logs do not see them, and tables and columns have to be called after models and
   * fields. Client and driver share its connections when the driver is made before the client connects.
   * @default statements go through the client
   */
  readonly adapter?: AnyAdapterFactory | undefined;
}

/**
 * A driver over a PrismaClient of yours, through its public API only. Models, fields and manyToMany relations are called
 * as `toPrismaSchema` prints them, the side of a relation that no entity declares included; the tables are yours to
 * migrate. `api.close()` disconnects the client.
 * @param client A PrismaClient 7, also an extended one
 * @throws ConfigurationError from `connect` when a model, field, table or column is missing, or MySQL would compare text inexactly; at
 *   once for an adapter to a database that no driver serves
 * @example
 * const api = keelson({ entities: [user, post], driver: prisma(new PrismaClient({ adapter }), { adapter }) });
 */
export function prisma(client: AnyPrismaClient, options: PrismaOptions = {}): Driver {
  const typed = client as unknown as Client;
  return options.adapter === undefined
    ? throughClient(typed, options.provider)
    : throughAdapter(typed, options.adapter, options.provider);
}

function capabilitiesOf(provider: () => Provider | undefined, locksInOrder: boolean): DriverCapabilities {
  return Object.freeze({
    /** Known for certain once the driver is connected. */
    get concurrentTransactions() {
      return provider() !== "sqlite";
    },
    locksInOrder,
    durable: true,
  });
}

function throughClient(client: Client, given: Provider | undefined): Driver {
  let provider = given;
  return createPrismaDriver(
    {
      name: "prisma",
      capabilities: capabilitiesOf(() => provider, false),
      async open({ model, log }) {
        checkClient(client, model);
        provider ??= await detectProvider(client);
        if (provider === "mysql") {
          warnOfTakenValues(model, log);
          await checkCollation(client, model);
        }
        return { client, dialect: DIALECTS[provider], close: () => client.$disconnect() };
      },
    },
    CLIENT_PATH,
  );
}

function throughAdapter(client: Client, given: AnyAdapterFactory, said: Provider | undefined): Driver {
  const provider = ADAPTER_PROVIDERS[given.provider];
  if (provider === undefined || (said !== undefined && said !== provider))
    throw new ConfigurationError(
      `prisma(client, { adapter }) takes an adapter for PostgreSQL, SQLite or MySQL; this one is for "${given.provider}"`,
    );
  const factory = shareAdapter(given);
  return createPrismaDriver(
    {
      name: "prisma",
      capabilities: capabilitiesOf(() => provider, provider === "postgresql"),
      async open({ model, log }) {
        checkClient(client, model);
        if (provider === "mysql") {
          warnOfTakenValues(model, log);
          await checkCollation(client, model);
        }
        const adapter = await factory.connect();
        async function close(): Promise<void> {
          await client.$disconnect();
          await adapter.dispose();
        }
        return { client: adapter, dialect: DIALECTS[provider], close };
      },
    },
    FOREIGN_SQL_PATH,
  );
}
