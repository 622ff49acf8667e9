import { withAbilitiesOf } from "../ports/create-conditions.ts";
import type { Driver, Row } from "../ports/driver.ts";
import { overlayDriver } from "../ports/overlay-driver.ts";

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
    const note = <T>(result: T, isWrite: boolean): T => {
      if (isWrite) this.#writes += 1;
      return result;
    };
    const watched = overlayDriver(driver, {
      create: async (...args) => note(await driver.create(...args), true),
      createMany: async (...args) => note(await driver.createMany(...args), true),
      async update(entity, where, data) {
        const row = await driver.update(entity, where, data);
        return note(row, row !== null && !isLock(data));
      },
      async updateMany(...args) {
        const count = await driver.updateMany(...args);
        return note(count, count > 0);
      },
      async delete(...args) {
        const isDeleted = await driver.delete(...args);
        return note(isDeleted, isDeleted);
      },
      async deleteMany(...args) {
        const count = await driver.deleteMany(...args);
        return note(count, count > 0);
      },
      link: async (...args) => note(await driver.link(...args), true),
      unlink: async (...args) => note(await driver.unlink(...args), true),
      transaction: (work, options) => driver.transaction((inner) => work(this.watch(inner)), options),
    });
    return withAbilitiesOf(driver, watched);
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

/** An update with nothing but the id locks the record and changes nothing. */
const isLock = (data: Row): boolean => Object.keys(data).every((name) => name === "id");
