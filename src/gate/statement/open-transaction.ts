import type { Driver } from "./driver.ts";
import type { ResultOf, Statement, Written } from "./statement.ts";
import { withMiddleware } from "./with-middleware.ts";

/** Work that waits for the outermost transaction to commit. @typeParam S The scope outside all transactions */
type AfterCommit<S> = (outermost: S) => Promise<void>;

/**
 * A transaction that is under way, and all that joins it. What is joined cannot be rolled back alone: when it fails after it
 * has written something, the whole transaction fails with its error, also where that error is caught on the way.
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
