import { DatabaseError } from "../../kernel/index.ts";
import type { Client, StatementClient } from "./client-shape.ts";
import type { Connection } from "./connection.ts";
import { withRetries } from "./retry.ts";
import { retryDelays, type Session, transactionSession } from "./session.ts";
import { toKeelsonError } from "./to-keelson-error.ts";

/** Prisma keeps its own, later clock, so that ours decides what the error says. */
const PRISMA_GRACE_MS = 1_000;
/** Milliseconds that a transaction waits for a connection to run on. */
const MAX_WAIT_MS = 10_000;

/**
 * Runs work in a transaction, and again when it got in the way of another one. What the work itself throws is passed on
 * as it is.
 */
export function runTransaction<T>(
  open: Connection,
  work: (session: Session) => Promise<T>,
  timeout: number,
): Promise<T> {
  return withRetries(() => open.clients.use((client) => attempt(open, client, work, timeout)), retryDelays(open));
}

async function attempt<T>(
  open: Connection,
  client: Client,
  work: (session: Session) => Promise<T>,
  timeout: number,
): Promise<T> {
  let failure: { readonly error: unknown } | undefined;
  const body = async (inner: StatementClient): Promise<T> => {
    const session = transactionSession(open, client, inner);
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
    return await client.$transaction(body, { timeout: timeout + PRISMA_GRACE_MS, maxWait: MAX_WAIT_MS });
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    open.clients.failed(client, error);
    throw toKeelsonError(error, { operation: "transaction" }, open.model);
  }
}

/** Prisma waits for the work to return, however long that takes; a queue of writers cannot. */
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
