import { ConfigurationError } from "../../../entity/index.ts";
import {
  type Driver,
  type DriverCapabilities,
  type DriverContext,
  type DriverPort,
  type DriverSchema,
  defineDriver,
  type Execute,
  type TransactionOptions,
  withCapabilities,
} from "../../../gate/index.ts";
import { createSerialQueue } from "../../../kernel/index.ts";
import { type Connection, notConnected, type OpenedClient } from "./connection.ts";
import { databaseSession, runTransaction, type Session, type Transact } from "./session.ts";

const TRANSACTION_MS = 30_000;

/** The differences between the drivers of this family. */
export interface DriverParts<C> {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  /** Synchronizes the tables, if the driver supports it. */
  readonly schema?: (context: () => DriverContext) => DriverSchema;
  /** Opens the database. A failure leaves nothing open, so that opening can be retried. */
  open(context: DriverContext): Promise<OpenedClient<C>>;
}

/** The path of statements to the database: through a PrismaClient, or in SQL directly to its adapter. */
export interface Path<S, C extends S, O extends Connection<C>> {
  /** Compiles the data that statements need. @throws ConfigurationError */
  prepare(opened: OpenedClient<C>, context: DriverContext): Promise<O>;
  readonly transact: Transact<S, C>;
  /** Additional capabilities of the driver. */
  readonly capabilities: Partial<DriverCapabilities>;
  /** @param transaction runs work in a transaction, or in the session's own */
  executor(session: Session<S, O>, transaction: DriverPort["transaction"]): Execute;
  /** Sends a query without effect. */
  ping(client: S): Promise<unknown>;
}

/** The Driver port over Prisma. */
export function createDatabaseDriver<S, C extends S, O extends Connection<C>>(
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

  /** Runs statements of a session; inner transactions join the session's. */
  function executor(session: Session<S, O>): Execute {
    const execute: Execute = path.executor(session, (work) => work(execute));
    return execute;
  }

  const tables = schema?.(() => {
    if (context === undefined || connection === undefined) throw notConnected(name);
    return context;
  });
  const session = databaseSession<C, O>(name, () => connection, turns) as Session<S, O>;

  async function transaction<T>(
    work: (execute: Execute) => Promise<T>,
    { timeout = TRANSACTION_MS }: TransactionOptions = {},
  ): Promise<T> {
    const current = session.connection();
    const run = () =>
      runTransaction<T, S, C, O>(current, path.transact, async (inner) => work(executor(inner)), timeout);
    return current.dialect.singleWriter ? turns(run) : run();
  }

  return defineDriver({
    name,
    capabilities: withCapabilities(capabilities, path.capabilities),
    schema: tables && Object.freeze(tables),
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
      await connecting?.catch(() => undefined); // `connect` reports the failure
      const closing = connection;
      connecting = undefined;
      connection = undefined;
      await closing?.close();
    },
    async ping() {
      await session.read({ operation: "ping" }, path.ping);
    },
    execute: path.executor(session, transaction),
    transaction,
  });
}
