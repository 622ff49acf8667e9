import type { Provider } from "../../../entity/index.ts";
import type { Driver, DriverCapabilities } from "../../../gate/index.ts";
import { createDatabaseDriver, DIALECTS, type Fast, type Path, type Transact } from "../../sql/index.ts";
import { checkClient, warnOfTakenValues } from "./check-client.ts";
import { checkCollation } from "./check-collation.ts";
import { detectProvider } from "./detect-provider.ts";
import { clientExecutor } from "./execute-by-client.ts";
import { type ClientConnection, createClientConnection } from "./words/client-connection.ts";
import type { Client, StatementClient } from "./words/client-shape.ts";

/** Prisma keeps its own, later clock, so that ours decides what the error says. */
const PRISMA_GRACE_MS = 1_000;

/** A transaction of a PrismaClient. */
const clientTransaction: Transact<StatementClient, Client> = (client, body, limits) =>
  client.$transaction(body, {
    timeout: limits.timeout + PRISMA_GRACE_MS,
    maxWait: limits.maxWait,
    ...(limits.asksReadCommitted && { isolationLevel: "ReadCommitted" }),
  });

type ClientPath = Path<StatementClient, Client, ClientConnection>;

/** Statements through the public API of a PrismaClient. */
function clientPath(fast: Fast): ClientPath {
  return Object.freeze({
    prepare: createClientConnection,
    transact: clientTransaction,
    capabilities: {},
    executor: (session, transaction) => clientExecutor(session, transaction, fast),
    ping: (client) => client.$queryRawUnsafe("SELECT 1"),
  } satisfies ClientPath);
}

/** What drivers over a PrismaClient can do. @param provider undefined while it is unknown */
export function capabilitiesOf(provider: () => Provider | undefined, locksInOrder: boolean): DriverCapabilities {
  return Object.freeze({
    /** Known for certain once the driver is connected. */
    get concurrentTransactions() {
      return provider() !== "sqlite";
    },
    locksInOrder,
    durable: true,
  });
}

/** A driver whose statements go through a client. @param given The database behind it. @default what it answers */
export function throughClient(client: Client, given: Provider | undefined, fast: Fast): Driver {
  let provider = given;
  return createDatabaseDriver(
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
    clientPath(fast),
  );
}
