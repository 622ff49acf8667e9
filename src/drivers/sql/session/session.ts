import type { EntityModel } from "../../../entity/index.ts";
import { createSerialQueue, DatabaseError, type SerialQueue } from "../../../kernel/index.ts";
import type { Statement } from "../errors/prisma-failure.ts";
import { isBusy, isWriteConflict, toKeelsonError } from "../errors/to-keelson-error.ts";
import { type Connection, notConnected } from "./connection.ts";
import { BUSY_DELAYS, CONFLICT_DELAYS, withRetries } from "./retry.ts";

/**
 * Where statements go: the database, or one of its transactions.
 * @typeParam S What runs a statement, there as here
 * @typeParam O What is known of the database
 */
export interface Session<S, O> {
  /** Whether statements are part of a transaction. */
  readonly inTransaction: boolean;
  /** @throws when it may not be used now */
  connection(): O;
  /** Runs a statement; errors become Keelson errors. */
  read<T>(statement: Statement, work: (client: S) => Promise<T>): Promise<T>;
  /** The same for a statement that changes something. */
  write<T>(statement: Statement, work: (client: S) => Promise<T>): Promise<T>;
}

async function guarded<T>(model: EntityModel, statement: Statement, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toKeelsonError(error, statement, model);
  }
}

/** Delays before work that failed is done again: rivals let go, other processes finish writing. */
export function retryDelays<C>({ dialect }: Connection<C>): (error: unknown) => readonly number[] | undefined {
  return (error) => {
    if (isWriteConflict(error)) return CONFLICT_DELAYS;
    return dialect.singleWriter && isBusy(error) ? BUSY_DELAYS : undefined;
  };
}

/** Statements on the database itself. Where only one can write at a time, those that write wait for their turn. */
export function databaseSession<C, O extends Connection<C>>(
  name: string,
  current: () => O | undefined,
  turns: SerialQueue,
): Session<C, O> {
  function connection(): O {
    const found = current();
    if (found === undefined) throw notConnected(name);
    return found;
  }
  function run<T>(open: O, statement: Statement, work: (client: C) => Promise<T>): Promise<T> {
    return guarded(open.model, statement, () => work(open.client));
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
 * @param client What the transaction takes statements with
 */
export function transactionSession<S, C, O extends Connection<C>>(
  open: O,
  client: S,
): Session<S, O> & { end(why: string): void } {
  const turns = createSerialQueue();
  let over: string | undefined;
  function connection(): O {
    if (over !== undefined) throw new DatabaseError(over);
    return open;
  }
  function run<T>(statement: Statement, work: (client: S) => Promise<T>): Promise<T> {
    return turns(() => guarded(connection().model, statement, () => work(client)));
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
