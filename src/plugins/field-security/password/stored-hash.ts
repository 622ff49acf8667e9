import type { PasswordCost } from "./password-cost.ts";

/** A stored hash taken apart, its work known to be bounded. */
export interface StoredHash {
  /** Whether the password is the one; compared in constant time. */
  matches(password: string): Promise<boolean>;
  /** Whether a hash made today at this cost has the same form, parameters and sizes. */
  isOf(cost: PasswordCost): boolean;
}

/** Bytes of the random salt of new hashes. */
export const SALT_BYTES = 16;
/** Bytes of new hashes. */
export const HASH_BYTES = 64;
