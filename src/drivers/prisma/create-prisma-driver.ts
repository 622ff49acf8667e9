import { ConfigurationError } from "../../entity/index.ts";
import {
  createSerialQueue,
  type Driver,
  type DriverCapabilities,
  type DriverContext,
  type DriverSchema,
} from "../../kernel/index.ts";
import type { OpenedClient } from "./client-source.ts";
import { type Connection, createConnection, notConnected } from "./connection.ts";
import { runTransaction } from "./run-transaction.ts";
import { databaseSession, type Session } from "./session.ts";
import { sessionStatements } from "./session-driver.ts";

const TRANSACTION_MS = 30_000;

/** What the drivers of this family differ in. */
export interface DriverParts {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  /** What keeps the tables in step, where the driver can do that itself. */
  readonly schema?: (context: () => DriverContext) => DriverSchema;
  /** Whether `open` makes a new client each time, so that one that broke can be replaced. */
  readonly reopens: boolean;
  /** Opens the database. A failure leaves nothing open, so that it can be tried again. */
  open(context: DriverContext): Promise<OpenedClient>;
}

/** The Driver port over Prisma. */
export function createPrismaDriver({ name, capabilities, schema, reopens, open }: DriverParts): Driver {
  const turns = createSerialQueue();
  let connecting: Promise<void> | undefined;
  let context: DriverContext | undefined;
  let connection: Connection | undefined;

  async function connect(given: DriverContext): Promise<void> {
    const opened = await open(given);
    try {
      connection = await createConnection(opened, given, reopens ? () => open(given) : undefined);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  function driverOf(session: Session, rest: Pick<Driver, "connect" | "disconnect" | "transaction" | "schema">): Driver {
    return Object.freeze({ name, capabilities, ...rest, ...sessionStatements(session, rest.transaction) });
  }

  /** The driver inside a transaction: nested transactions join it. */
  function joined(session: Session): Driver {
    const driver: Driver = driverOf(session, {
      connect: async () => {},
      disconnect: async () => {},
      transaction: async (work) => work(driver),
    });
    return driver;
  }

  const tables = schema?.(() => {
    if (context === undefined || connection === undefined) throw notConnected(name);
    return context;
  });
  const session = databaseSession(name, () => connection, turns);
  return driverOf(session, {
    ...(tables === undefined ? {} : { schema: Object.freeze(tables) }),
    async connect(given) {
      if (connecting !== undefined && context?.model !== given.model)
        throw new ConfigurationError(`the ${name} driver already serves another app; make one driver per app`);
      context = given;
      connecting ??= connect(given);
      try {
        await connecting;
      } catch (error) {
        connecting = undefined;
        throw error;
      }
    },
    async disconnect() {
      await connecting?.catch(() => undefined); // whoever connects hears of a failure
      const closing = connection;
      connecting = undefined;
      connection = undefined;
      await closing?.clients.close();
    },
    async transaction(work, { timeout = TRANSACTION_MS } = {}) {
      const current = session.connection();
      const run = () => runTransaction(current, async (inner) => work(joined(inner)), timeout);
      return current.dialect.singleWriter ? turns(run) : run();
    },
  });
}
