import type { Provider } from "../../entity/index.ts";
import type { Driver } from "../../kernel/index.ts";
import { checkClient } from "./check-client.ts";
import { checkCollation } from "./check-collation.ts";
import type { AnyPrismaClient, Client } from "./client-shape.ts";
import { createPrismaDriver } from "./create-prisma-driver.ts";
import { detectProvider } from "./detect-provider.ts";
import { DIALECTS } from "./dialect.ts";
import { warnOfTakenValues } from "./warn-of-taken-values.ts";

/** Options of `prisma`. */
export interface PrismaOptions {
  /** The database behind the client. @default what it answers when asked for its version */
  readonly provider?: Provider | undefined;
}

/**
 * A driver over a PrismaClient of yours, through its public API only. Models, fields and manyToMany relations are called
 * as `toPrismaSchema` prints them, the side of a relation that no entity declares included; the tables are yours to
 * migrate. `api.close()` disconnects the client.
 * @param client A PrismaClient 7, also an extended one
 * @throws ConfigurationError from `connect` when a model or field is missing, or MySQL would compare text inexactly
 * @example
 * const api = keelson({ entities: [user, post], driver: prisma(new PrismaClient({ adapter })) });
 */
export function prisma(client: AnyPrismaClient, options: PrismaOptions = {}): Driver {
  const typed = client as unknown as Client;
  let provider = options.provider;
  return createPrismaDriver({
    name: "prisma",
    capabilities: Object.freeze({
      /** Known for certain once the driver is connected. */
      get concurrentTransactions() {
        return provider !== "sqlite";
      },
      durable: true,
    }),
    reopens: false,
    async open({ model, log }) {
      checkClient(typed, model);
      provider ??= await detectProvider(typed);
      if (provider === "mysql") {
        warnOfTakenValues(model, log);
        await checkCollation(typed, model);
      }
      const dialect = DIALECTS[provider];
      return { client: typed, dialect, close: () => typed.$disconnect() };
    },
  });
}
