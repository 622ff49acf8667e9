import { createSerialQueue, DatabaseError, type SerialQueue } from "../../kernel/index.ts";
import type { Client, StatementClient } from "./client-shape.ts";
import { type Connection, notConnected } from "./connection.ts";
import type { Statement } from "./prisma-failure.ts";
import { BUSY_DELAYS, CONFLICT_DELAYS, withRetries } from "./retry.ts";
import { isBusy, isWriteConflict, toKeelsonError } from "./to-keelson-error.ts";

/** Where statements go: the database, or one of its transactions. */
export interface Session {
  /** Whether statements are part of a transaction. */
  readonly inTransaction: boolean;
  /** @throws when it may not be used now */
  connection(): Connection;
  /** Runs a statement; whatever it throws becomes an error of ours. */
  read<T>(statement: Statement, work: (client: StatementClient) => Promise<T>): Promise<T>;
  /** The same for a statement that changes something. */
  write<T>(statement: Statement, work: (client: StatementClient) => Promise<T>): Promise<T>;
}

async function guarded<T>(
  { clients, model }: Connection,
  owner: Client,
  statement: Statement,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    clients.failed(owner, error);
    throw toKeelsonError(error, statement, model);
  }
}

/** Delays before work that failed is done again: rivals let go, other processes finish writing. */
export function retryDelays({ dialect }: Connection): (error: unknown) => readonly number[] | undefined {
  return (error) => {
    if (isWriteConflict(error)) return CONFLICT_DELAYS;
    return dialect.singleWriter && isBusy(error) ? BUSY_DELAYS : undefined;
  };
}

/** Statements on the database itself. Where only one can write at a time, those that write wait for their turn. */
export function databaseSession(name: string, current: () => Connection | undefined, turns: SerialQueue): Session {
  function connection(): Connection {
    const found = current();
    if (found === undefined) throw notConnected(name);
    return found;
  }
  function run<T>(open: Connection, statement: Statement, work: (client: StatementClient) => Promise<T>): Promise<T> {
    return open.clients.use((client) => guarded(open, client, statement, () => work(client)));
  }
  return {
    inTransaction: false,
    connection,
    read: (statement, work) => run(connection(), statement, work),
    write(statement, work) {
      const open = connection();
      const attempt = () => withRetries(() => run(open, statement, work), retryDelays(open));
      return open.dialect.singleWriter ? turns(attempt) : attempt();
    },
  };
}

/**
 * Statements of a transaction: one after the other, as its connection takes them.
 * @param owner The client that the transaction runs on
 * @param client What Prisma hands to the transaction
 */
export function transactionSession(
  open: Connection,
  owner: Client,
  client: StatementClient,
): Session & { end(why: string): void } {
  const turns = createSerialQueue();
  let over: string | undefined;
  function connection(): Connection {
    if (over !== undefined) throw new DatabaseError(over);
    return open;
  }
  function run<T>(statement: Statement, work: (client: StatementClient) => Promise<T>): Promise<T> {
    return turns(() => guarded(connection(), owner, statement, () => work(client)));
  }
  return {
    inTransaction: true,
    connection,
    read: run,
    write: run,
    end(why) {
      over ??= why;
    },
  };
}
