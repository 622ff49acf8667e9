import { DatabaseError } from "../../../kernel/index.ts";
import { toKeelsonError } from "../errors/to-keelson-error.ts";
import type { Connection } from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import { withRetries } from "./retry.ts";
import { retryDelays, type Session, transactionSession } from "./session.ts";

/** Milliseconds that a transaction waits for a connection where the client was opened without `maxWait`. */
const MAX_WAIT_MS = 10_000;

/**
 * Begins a transaction on a client, hands it to the body, and commits what the body did, or rolls it back when it throws.
 */
export type Transact<S, C> = <T>(client: C, body: (inner: S) => Promise<T>, limits: TransactLimits) => Promise<T>;

/** How long a transaction may take, in milliseconds, and how it is isolated. */
export interface TransactLimits extends Pick<Dialect, "asksReadCommitted"> {
  /** The body throws by itself after that. */
  readonly timeout: number;
  /** What the transaction waits for a connection; 0 as long as it takes. */
  readonly maxWait: number;
}

export function limitsOf({ maxWait = MAX_WAIT_MS, dialect }: Connection<unknown>, timeout: number): TransactLimits {
  return { timeout, maxWait, asksReadCommitted: dialect.asksReadCommitted };
}

/**
 * Runs work in a transaction, and again when it got in the way of another one. What the work itself throws is passed on
 * as it is.
 */
export function runTransaction<T, S, C, O extends Connection<C>>(
  open: O,
  transact: Transact<S, C>,
  work: (session: Session<S, O>) => Promise<T>,
  timeout: number,
): Promise<T> {
  return withRetries(() => attempt(open, transact, work, timeout), retryDelays(open));
}

async function attempt<T, S, C, O extends Connection<C>>(
  open: O,
  transact: Transact<S, C>,
  work: (session: Session<S, O>) => Promise<T>,
  timeout: number,
): Promise<T> {
  let failure: { readonly error: unknown } | undefined;
  const body = async (inner: S): Promise<T> => {
    const session = transactionSession<S, C, O>(open, inner);
    try {
      return await inTime(work(session), timeout, session.end);
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

/** A database waits for the work to return, however long that takes; a queue of writers cannot. */
async function inTime<T>(work: Promise<T>, timeout: number, end: (why: string) => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const why = `The transaction took longer than ${timeout} ms and was rolled back`;
      end(why);
      reject(new DatabaseError(why));
    }, timeout);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
