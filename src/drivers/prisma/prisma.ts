import type { Provider } from "../../entity/index.ts";
import type { Driver } from "../../gate/index.ts";
import { ALL_FAST } from "../sql/index.ts";
import type { AnyAdapterFactory } from "./adapter/adapter-shape.ts";
import { throughAdapter } from "./adapter/through-adapter.ts";
import { throughClient } from "./client/through-client.ts";
import type { AnyPrismaClient, Client } from "./client/words/client-shape.ts";

/** Options of `prisma`. */
export interface PrismaOptions {
  /** The database behind the client. @default what it answers when asked for its version */
  readonly provider?: Provider | undefined;
  /**
   * The adapter that the client was made with. Statements then go straight to it, in SQL, which takes a fraction of the
   * time; client extensions and query logs do not see them, and tables and columns have to be called after models and
   * fields. Client and driver have a pool of connections each, unless the adapter is a `sharedAdapter`.
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
    ? throughClient(typed, options.provider, ALL_FAST)
    : throughAdapter(typed, options.adapter, options.provider, ALL_FAST);
}
