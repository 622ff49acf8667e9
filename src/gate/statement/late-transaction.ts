import { DatabaseError } from "../../kernel/index.ts";
import type { Driver } from "./driver-port.ts";
import { isRead, type ResultOf, type Statement, type Written } from "./statement.ts";
import { withMiddleware } from "./with-middleware.ts";

/** What a late transaction takes. */
export interface LateTransaction<T> {
  /** Runs on a driver; again, on that of a new transaction, when the database rolled back and the driver tries again. */
  readonly work: (driver: Driver, isLate: boolean) => Promise<T>;
  /** Stands around the transaction, from before it begins until it has ended. @default nothing does */
  readonly around?: ((transaction: () => Promise<T>) => Promise<T>) | undefined;
}

/**
 * Runs work in a transaction that begins with its first write, or with the first transaction inside it. Reads before that go
 * to the database as they would without a transaction, so that work which waits for something else first holds nothing.
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
  await Promise.race([outcome, failed]).catch(() => {}); // the transaction says how it ended
  isOver = true;
  return ended ?? outcome;
}

/** Work that waits until the outermost transaction commits. @typeParam S The scope outside all transactions */
type AfterCommit<S> = (outermost: S) => Promise<void>;

/**
 * A transaction that is under way, and all that joins it. Joined work cannot be rolled back alone: when it fails after
 * it has written something, the whole transaction fails with its error, also where that error is caught on the way.
 */
export class OpenTransaction<S> {
  readonly afterCommit: AfterCommit<S>[] = [];
  #writes = 0;
  #failure: { readonly error: unknown } | undefined;

  /** The driver of the transaction, whose writes are noticed. */
  watch(driver: Driver): Driver {
    return withMiddleware(
      driver,
      async (statement, next) => {
        const result = await next(statement);
        if (hasWritten(statement, result)) this.#writes += 1;
        return result;
      },
      { joins: true },
    );
  }

  /** Runs work that joins the transaction. */
  async join<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#writes;
    try {
      return await work();
    } catch (error) {
      if (this.#writes > before) this.#failure ??= { error };
      throw error;
    }
  }

  /** @throws what failed after it had written something */
  assertWhole(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function hasWritten({ kind }: Statement, result: ResultOf<Statement>): boolean {
  if (kind === "link" || kind === "unlink") return true;
  return (kind === "insert" || kind === "update" || kind === "delete") && (result as Written).count > 0;
}
