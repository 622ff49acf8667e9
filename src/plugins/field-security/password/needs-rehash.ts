import type { PasswordCostOptions } from "./create-password-hasher.ts";
import { checkCost, DEFAULT_COST, type PasswordCost } from "./password-cost.ts";
import { readStoredHash } from "./read-stored-hash.ts";

/**
 * Whether a stored hash should be made anew at the next login, when the password is at hand: its form, cost, digest or
 * sizes are not what a hash made today has. What is no hash at all needs it, too.
 * @param options `cost`: that of the field, or "scrypt"; without it both what `.password()` and what `hashPassword` make
 * is up to date
 * @throws ConfigurationError for a cost that is no whole number from 1 to 14
 */
export function needsRehash(hash: string, { cost }: PasswordCostOptions = {}): boolean {
  if (cost !== undefined) checkCost(cost);
  const upToDate: readonly PasswordCost[] = cost === undefined ? [DEFAULT_COST, "scrypt"] : [cost];
  const stored = readStoredHash(hash);
  return stored === undefined || !upToDate.some((one) => stored.isOf(one));
}
