import type { Driver } from "./driver-port.ts";

/**
 * Limits the number of transactions that are open at the same time; others wait. Callers take turns, so that a caller
 * does not wait for all transactions of another one.
 * @param caller the caller of the transaction @default all transactions share one turn
 */
export type TransactionSlots = <T>(transaction: () => Promise<T>, caller?: string) => Promise<T>;

/** The limit if the driver does not know its number of connections. */
const UNKNOWN = 4;

/** @param given the limit @default half of the driver's connections */
export function transactionSlots({ capabilities }: Driver, given?: number): TransactionSlots {
  const { transactions } = capabilities;
  const most = given ?? (transactions === undefined ? UNKNOWN : Math.max(1, Math.floor(transactions / 2)));
  /** Waiting transactions by caller, in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  let open = 0;

  function wait(caller: string): Promise<void> {
    return new Promise((resolve) => {
      const own = waiting.get(caller);
      if (own === undefined) waiting.set(caller, [resolve]);
      else own.push(resolve);
    });
  }

  function next(): (() => void) | undefined {
    for (const [caller, own] of waiting) {
      waiting.delete(caller);
      const begin = own.shift();
      if (own.length > 0) waiting.set(caller, own); // after the other callers
      return begin;
    }
    return undefined;
  }

  return async (transaction, caller = "") => {
    if (open < most) open += 1;
    else await wait(caller); // takes the slot of a transaction that ends
    try {
      return await transaction();
    } finally {
      const begin = next();
      if (begin === undefined) open -= 1;
      else begin();
    }
  };
}
