import { setTimeout as wait } from "node:timers/promises";
import type { EntityModel } from "../../../entity/index.ts";
import { createSerialQueue, DatabaseError, type SerialQueue } from "../../../kernel/index.ts";
import { isSqliteBusy, STALE_PLAN, type Subject } from "../errors/prisma-failure.ts";
import { failureBehind, toKeelsonError } from "../errors/to-keelson-error.ts";
import { type Connection, type Dialect, notConnected } from "./connection.ts";

/**
 * The target of statements: the database, or one of its transactions.
 * @typeParam S the client that runs statements
 * @typeParam O the connection
 */
export interface Session<S, O> {
  /** Whether statements are part of a transaction. */
  readonly inTransaction: boolean;
  /** @throws when the session cannot be used */
  connection(): O;
  /** Runs a statement; errors become Keelson errors. */
  read<T>(statement: Subject, work: (client: S) => Promise<T>): Promise<T>;
  /** Runs a statement that changes data; errors become Keelson errors. */
  write<T>(statement: Subject, work: (client: S) => Promise<T>): Promise<T>;
}

interface Guard {
  readonly model: EntityModel;
  readonly statement: Subject;
  readonly prepareAnew: (() => void) | undefined;
}

async function guarded<T>({ model, statement, prepareAnew }: Guard, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = toKeelsonError(error, statement, model);
    if (failureBehind(known)?.code === STALE_PLAN) prepareAnew?.();
    throw known;
  }
}

/**
 * A session outside transactions. If only one transaction can write at a time, writing statements wait for their turn.
 */
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
  return {
    inTransaction: false,
    connection,
    read(statement, work) {
      const { model, client, prepareAnew } = connection();
      const guard = { model, statement, prepareAnew };
      return withRetries(() => guarded(guard, () => work(client)), staleDelays);
    },
    write(statement, work) {
      const { model, client, dialect, prepareAnew } = connection();
      const guard = { model, statement, prepareAnew };
      const attempt = () => withRetries(() => guarded(guard, () => work(client)), retryDelays(dialect));
      return dialect.singleWriter ? turns(attempt) : attempt();
    },
  };
}

/**
 * A session of a transaction, which runs one statement at a time on its connection. @param client runs the statements
 */
function transactionSession<S, O extends Connection<unknown>>(
  open: O,
  client: S,
): Session<S, O> & { end(why: string): void } {
  const turns = createSerialQueue();
  let over: string | undefined;
  function connection(): O {
    if (over !== undefined) throw new DatabaseError(over);
    return open;
  }
  function run<T>(statement: Subject, work: (client: S) => Promise<T>): Promise<T> {
    return turns(() => {
      const { model, prepareAnew } = connection();
      return guarded({ model, statement, prepareAnew }, () => work(client));
    });
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

/** Milliseconds that a transaction waits for a connection if the client was opened without `maxWait`. */
const MAX_WAIT_MS = 10_000;

/** Begins a transaction on a client, runs the body in it, and commits; rolls back if the body throws. */
export type Transact<S, C> = <T>(client: C, body: (inner: S) => Promise<T>, limits: TransactLimits) => Promise<T>;

/** The time limits of a transaction in milliseconds, and its isolation. */
export interface TransactLimits extends Pick<Dialect, "asksReadCommitted"> {
  /** After this time, the body throws. */
  readonly timeout: number;
  /** The time to wait for a connection; 0 waits indefinitely. */
  readonly maxWait: number;
}

export function limitsOf({ maxWait = MAX_WAIT_MS, dialect }: Connection<unknown>, timeout: number): TransactLimits {
  return { timeout, maxWait, asksReadCommitted: dialect.asksReadCommitted };
}

/** Runs work in a transaction, and retries on a conflict. Errors of the work itself are not converted. */
export function runTransaction<T, S, C, O extends Connection<C>>(
  open: O,
  transact: Transact<S, C>,
  work: (session: Session<S, O>) => Promise<T>,
  timeout: number,
): Promise<T> {
  async function attempt(): Promise<T> {
    let failure: { readonly error: unknown } | undefined;
    const body = async (inner: S): Promise<T> => {
      const session = transactionSession<S, O>(open, inner);
      // A database waits for the work however long it takes, but a queue of writers cannot.
      const late = (): Error => {
        const why = `The transaction took longer than ${timeout} ms and was rolled back`;
        session.end(why);
        return new DatabaseError(why);
      };
      try {
        return await within(work(session), timeout, late);
      } catch (error) {
        failure = { error };
        throw error;
      } finally {
        session.end("The transaction is over");
      }
    };
    try {
      return await transact(open.client, body, limitsOf(open, timeout));
    } catch (error) {
      if (failure !== undefined) throw failure.error;
      throw toKeelsonError(error, { operation: "transaction" }, open.model);
    }
  }
  return withRetries(attempt, retryDelays(open.dialect));
}

/** Waits for a promise for a limited time. @param late makes the error thrown on timeout */
export async function within<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds before each retry; jitter that grows with them keeps competing transactions apart. */
const CONFLICT_DELAYS: readonly number[] = [5, 20, 60];
/** Waits about five seconds for another process that writes to the same SQLite file. */
const BUSY_DELAYS: readonly number[] = [5, 10, 20, 50, 100, ...Array<number>(18).fill(250)];

/**
 * The delays before failed work is retried: other transactions release locks, other processes finish writing,
 * statements are prepared again.
 */
function retryDelays({ singleWriter }: Dialect): (error: unknown) => readonly number[] | undefined {
  return (error) => {
    const code = failureBehind(error)?.code;
    if (code === "P2034" || code === STALE_PLAN) return CONFLICT_DELAYS;
    return singleWriter && code === "P1008" ? BUSY_DELAYS : undefined;
  };
}

/** The delays for work that only reads. */
const staleDelays = (error: unknown): readonly number[] | undefined =>
  failureBehind(error)?.code === STALE_PLAN ? CONFLICT_DELAYS : undefined;

/** Retries work while another process writes to the same SQLite file. */
export function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  return withRetries(work, (error) => (isSqliteBusy(error) ? BUSY_DELAYS : undefined));
}

/** @param delaysFor returns the delays for an error, or undefined if a retry is pointless */
async function withRetries<T>(
  work: () => Promise<T>,
  delaysFor: (error: unknown) => readonly number[] | undefined,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const delay = delaysFor(error)?.[attempt];
      if (delay === undefined) throw error;
      await wait(delay * (0.5 + Math.random()));
    }
  }
}
