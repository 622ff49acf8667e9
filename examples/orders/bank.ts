import { conflictError } from "keelson";

/** A payment, as another system would store it. */
export interface Payment {
  readonly id: string;
  readonly amount: number;
  refunded: boolean;
}

/** A stand-in for a payment provider. Like a real one, it recognises a repeated request by its key. */
export interface Bank {
  charge(card: string, amount: number, key: string): Promise<Payment>;
  refund(key: string): Promise<void>;
  readonly payments: ReadonlyMap<string, Payment>;
}

/** @returns a bank that refuses cards beginning with "0000" */
export function createBank(): Bank {
  const payments = new Map<string, Payment>();
  return {
    payments,
    async charge(card, amount, key) {
      const known = payments.get(key);
      if (known !== undefined) return known;
      if (card.startsWith("0000")) throw conflictError("The card was refused");
      const payment = { id: `pay-${payments.size + 1}`, amount, refunded: false };
      payments.set(key, payment);
      return payment;
    },
    async refund(key) {
      const payment = payments.get(key);
      if (payment !== undefined) payment.refunded = true; // there may be nothing to refund: the charge never arrived
    },
  };
}
