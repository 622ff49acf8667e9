import type { Driver } from "../../kernel/index.ts";

/** Lets a number of transactions be open at the same time; others wait for their turn, in order. */
export type TransactionSlots = <T>(transaction: () => Promise<T>) => Promise<T>;

/** Where the driver does not know how many connections it has. */
const UNKNOWN = 4;

/** @param given as the options say @default half of the driver's connections */
export function transactionSlots({ capabilities }: Driver, given: number | undefined): TransactionSlots {
  const { transactions } = capabilities;
  const most = given ?? (transactions === undefined ? UNKNOWN : Math.max(1, Math.floor(transactions / 2)));
  const waiting: (() => void)[] = [];
  let open = 0;
  return async (transaction) => {
    if (open < most) open += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // given the place of one that ends
    try {
      return await transaction();
    } finally {
      const next = waiting.shift();
      if (next === undefined) open -= 1;
      else next();
    }
  };
}
