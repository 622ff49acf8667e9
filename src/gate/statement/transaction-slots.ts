import type { Driver } from "./driver-port.ts";

/**
 * Lets a number of transactions be open at the same time; others wait. Callers take turns, so that none waits for all that
 * another one has begun.
 * @param caller whose transaction it is @default all together are one
 */
export type TransactionSlots = <T>(transaction: () => Promise<T>, caller?: string) => Promise<T>;

/** Where the driver does not know how many connections it has. */
const UNKNOWN = 4;

/** @param given how many at most @default half of the driver's connections */
export function transactionSlots({ capabilities }: Driver, given?: number): TransactionSlots {
  const { transactions } = capabilities;
  const most = given ?? (transactions === undefined ? UNKNOWN : Math.max(1, Math.floor(transactions / 2)));
  /** By caller, in the order of their turns. */
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
      if (own.length > 0) waiting.set(caller, own); // behind the others
      return begin;
    }
    return undefined;
  }

  return async (transaction, caller = "") => {
    if (open < most) open += 1;
    else await wait(caller); // given the place of one that ends
    try {
      return await transaction();
    } finally {
      const begin = next();
      if (begin === undefined) open -= 1;
      else begin();
    }
  };
}
