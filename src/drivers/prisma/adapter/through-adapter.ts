import type { SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError, type Provider } from "../../../entity/index.ts";
import type { Driver } from "../../../gate/index.ts";
import { createDatabaseDriver, DIALECTS, type Fast } from "../../sql/index.ts";
import { checkClient, warnOfTakenValues } from "../client/check-client.ts";
import { checkCollation } from "../client/check-collation.ts";
import { capabilitiesOf } from "../client/through-client.ts";
import type { Client } from "../client/words/client-shape.ts";
import { ADAPTER_PROVIDERS, type AnyAdapterFactory } from "./adapter-shape.ts";
import { foreignPath } from "./foreign-path.ts";

/**
 * A driver whose statements go to the adapter of a client, in SQL.
 * @throws ConfigurationError for an adapter to a database that no driver serves
 */
export function throughAdapter(
  client: Client,
  given: AnyAdapterFactory,
  said: Provider | undefined,
  fast: Fast,
): Driver {
  const provider = ADAPTER_PROVIDERS[given.provider];
  if (provider === undefined || (said !== undefined && said !== provider))
    throw new ConfigurationError(
      `prisma(client, { adapter }) takes an adapter for PostgreSQL, SQLite or MySQL; this one is for "${given.provider}"`,
    );
  const factory = given as unknown as SqlDriverAdapterFactory;
  return createDatabaseDriver(
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
    foreignPath(fast),
  );
}
