// Rows in the memory of this process: the driver for tests and examples, with the semantics of the databases.
// Architecture 3.5; the contract suite runs on it and on the database drivers.
import { ConfigurationError } from "../../entity/index.ts";
import { type Driver, defineDriver, type Execute, type TransactionOptions } from "../../gate/index.ts";
import { createSerialQueue, DatabaseError } from "../../kernel/index.ts";
import { executeIn, type Session } from "./execute-in-memory.ts";
import { plant, type Seed, seedOf } from "./seed.ts";
import { Store } from "./store.ts";

export type { Seed } from "./seed.ts";

const TRANSACTION_MS = 30_000;

/**
 * A driver that keeps rows in memory. Like a database, it checks unique columns and references, and isolates
 * transactions (one at a time) and rolls them back. Rows it returns are copies. Its rows survive `disconnect`.
 * @param seed rows by entity name, stored at the first start. Missing ids (`post-0001`, …), timestamps and defaults are
 *   filled in. @default no rows
 * @throws ConfigurationError from `connect` when the seed does not match the entities, and from all other methods
 *   before `connect`
 */
export function memoryDriver(seed: Seed = {}): Driver {
  const queue = createSerialQueue();
  let state: Store | undefined;
  let isConnected = false;

  const session: Session = {
    store() {
      if (state === undefined || !isConnected)
        throw new ConfigurationError("the memory driver is not connected; start the app first (await api.ready)");
      return state;
    },
    write: (statement) => queue(() => statement(session.store())),
  };

  return defineDriver({
    name: "memory",
    capabilities: Object.freeze({
      concurrentTransactions: false,
      durable: false,
      conditionalInserts: true,
      aggregates: true,
      sortsRelated: true,
    }),
    async connect({ model }) {
      const next = Store.empty(model);
      plant(next, state === undefined ? seed : seedOf(state, next));
      state = next;
      isConnected = true;
    },
    async disconnect() {
      isConnected = false;
    },
    async ping() {
      session.store();
    },
    execute: executeIn(session),
    async transaction(work, options) {
      session.store();
      return queue(() => runTransaction(session.store(), work, options));
    },
  });
}

/** Runs work on a fork of the state, which replaces the state on success. */
async function runTransaction<T>(
  store: Store,
  work: (execute: Execute) => Promise<T>,
  { timeout = TRANSACTION_MS }: TransactionOptions = {},
): Promise<T> {
  const fork = store.fork();
  let over: string | undefined;
  const session: Session = {
    store() {
      if (over !== undefined) throw new DatabaseError(over);
      return fork;
    },
    write: async (statement) => statement(session.store()),
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      over = `The transaction took longer than ${timeout} ms and was rolled back`;
      reject(new DatabaseError(over));
    }, timeout);
  });
  try {
    const result = await Promise.race([work(executeIn(session)), late]);
    store.adopt(fork);
    return result;
  } finally {
    clearTimeout(timer);
    over ??= "The transaction is over";
  }
}
