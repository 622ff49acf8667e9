import { ConfigurationError } from "../../entity/index.ts";
import {
  createSerialQueue,
  type Driver,
  type DriverCapabilities,
  type DriverContext,
  type DriverSchema,
  type TransactionOptions,
  withCreateConditions,
  withJoins,
} from "../../kernel/index.ts";
import { type Connection, notConnected } from "./connection.ts";
import type { OpenedClient } from "./opened-client.ts";
import { runTransaction, type Transact } from "./run-transaction.ts";
import { databaseSession, type Session } from "./session.ts";

const TRANSACTION_MS = 30_000;

/** The port's methods that run statements. */
export type Statements = Omit<Driver, "name" | "capabilities" | "schema" | "connect" | "disconnect" | "transaction">;

/** What the drivers of this family differ in. */
export interface DriverParts<C> {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  /** What keeps the tables in step, where the driver can do that itself. */
  readonly schema?: (context: () => DriverContext) => DriverSchema;
  /** Opens the database. A failure leaves nothing open, so that it can be tried again. */
  open(context: DriverContext): Promise<OpenedClient<C>>;
}

/** A way for statements to the database: through a PrismaClient, or in SQL straight to its adapter. */
export interface Path<S, C extends S, O extends Connection<C>> {
  /** Compiles what statements need. @throws ConfigurationError */
  prepare(opened: OpenedClient<C>, context: DriverContext): Promise<O>;
  readonly transact: Transact<S, C>;
  /** Whether lists read related records along, and creates take conditions. */
  readonly isSql: boolean;
  statements(session: Session<S, O>, transaction: Driver["transaction"]): Statements;
}

/** The Driver port over Prisma. */
export function createPrismaDriver<S, C extends S, O extends Connection<C>>(
  { name, capabilities, schema, open }: DriverParts<C>,
  path: Path<S, C, O>,
): Driver {
  const turns = createSerialQueue();
  let connecting: Promise<void> | undefined;
  let context: DriverContext | undefined;
  let connection: O | undefined;

  async function connect(given: DriverContext): Promise<void> {
    const opened = await open(given);
    try {
      connection = await path.prepare(opened, given);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  function driverOf(
    session: Session<S, O>,
    rest: Pick<Driver, "connect" | "disconnect" | "transaction" | "schema">,
  ): Driver {
    const driver = Object.freeze({ name, capabilities, ...rest, ...path.statements(session, rest.transaction) });
    return path.isSql ? withCreateConditions(withJoins(driver)) : driver;
  }

  /** The driver inside a transaction: nested transactions join it. */
  function joined(session: Session<S, O>): Driver {
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
  const session = databaseSession<C, O>(name, () => connection, turns);
  return driverOf(session as Session<S, O>, {
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
      await closing?.close();
    },
    async transaction<T>(work: (driver: Driver) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
      const { timeout = TRANSACTION_MS } = options;
      const current = session.connection();
      const run = () =>
        runTransaction<T, S, C, O>(current, path.transact, async (inner) => work(joined(inner)), timeout);
      return current.dialect.singleWriter ? turns(run) : run();
    },
  });
}
