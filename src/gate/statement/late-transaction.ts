import { DatabaseError } from "../../kernel/index.ts";
import type { Driver } from "./driver-port.ts";
import { isRead, type ResultOf, type Statement, type Written } from "./statement.ts";
import { type Middleware, withMiddleware } from "./with-middleware.ts";

/** The work of a late transaction. */
export interface LateTransaction<T> {
  /**
   * Runs with a driver. Runs again, with the driver of a new transaction, if the database rolled back and the driver
   * retries.
   */
  readonly work: (driver: Driver, isLate: boolean) => Promise<T>;
  /** Wraps the transaction, from before it begins until it has ended. @default no wrapper */
  readonly around?: ((transaction: () => Promise<T>) => Promise<T>) | undefined;
}

/**
 * Runs work in a transaction that begins with its first write or with the first inner transaction. Earlier reads run
 * outside a transaction, so that work which has to wait first holds no locks.
 */
export async function lateTransaction<T>(
  base: Driver,
  { work, around = (run) => run() }: LateTransaction<T>,
): Promise<T> {
  let current: Driver = base;
  let beginning: Promise<Driver> | undefined;
  let ended: Promise<T> | undefined;
  let isOver = false;
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });

  function begin(): Promise<Driver> {
    if (isOver) return Promise.reject(new DatabaseError("The transaction is over"));
    beginning ??= new Promise((resolve, reject) => {
      let isFirst = true;
      const transaction = (): Promise<T> =>
        base.transaction((driver) => {
          if (!isFirst) return work(driver, false);
          isFirst = false;
          current = driver;
          resolve(driver);
          return outcome;
        });
      ended = around(transaction);
      ended.catch((error: unknown) => {
        reject(error);
        fail(error);
      });
    });
    return beginning;
  }

  const late = withMiddleware(
    base,
    async (statement) => (isRead(statement) ? current : await begin()).execute(statement),
    {
      joins: true,
      transaction: async (inner, options) => (await begin()).transaction((driver) => inner(driver.execute), options),
    },
  );
  const outcome = Promise.resolve().then(() => work(late, true));
  await Promise.race([outcome, failed]).catch(() => {}); // the result of the transaction is used instead
  isOver = true;
  return ended ?? outcome;
}

/** Work that runs after the outermost transaction has committed. @typeParam S the scope outside all transactions */
type AfterCommit<S> = (outermost: S) => Promise<void>;

/**
 * An open transaction and the work that joins it. Joined work cannot be rolled back alone: if it fails after a write,
 * the whole transaction fails with its error, even if code catches that error.
 */
export class OpenTransaction<S> {
  readonly afterCommit: AfterCommit<S>[] = [];
  #writes = 0;
  /** The errors of joined work that failed after a write. */
  readonly failures: unknown[] = [];

  /** Wraps the driver of the transaction to count its writes. Inner transactions of the driver join this one. */
  watch(driver: Driver): Driver {
    const count: Middleware = async (statement, next) => {
      const result = await next(statement);
      if (hasWritten(statement, result)) this.#writes += 1;
      return result;
    };
    return withMiddleware(driver, count, {
      joins: true,
      transaction: (work, options) =>
        this.join(() =>
          driver.transaction((inner) => work(withMiddleware(inner, count, { joins: true }).execute), options),
        ),
    });
  }

  /** Runs work that joins the transaction. */
  async join<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#writes;
    try {
      return await work();
    } catch (error) {
      if (this.#writes > before) this.failures.push(error);
      throw error;
    }
  }
}

function hasWritten({ kind }: Statement, result: ResultOf<Statement>): boolean {
  if (kind === "link" || kind === "unlink") return true;
  return (kind === "insert" || kind === "update" || kind === "delete") && (result as Written).count > 0;
}
