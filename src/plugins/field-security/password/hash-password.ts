import { checkCost, DEFAULT_COST, type PasswordCost } from "./password-cost.ts";
import {
  createPasswordHasher,
  type PasswordCostOptions,
  type PasswordHasher,
  type PasswordWorkOptions,
} from "./password-hasher.ts";
import { readStoredHash } from "./stored-hash.ts";

/**
 * Hashes a password with scrypt: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` (spec 2.4 rule 5). For what no `.password()` field
 * holds; those hash by themselves.
 * @param password 1 to 1,024 bytes of well-formed text, taken exactly as it is
 * @throws BadRequestError for anything else
 * @throws UnavailableError (503) when too many passwords wait
 */
export async function hashPassword(password: string): Promise<string> {
  return defaultHasher.hash(password, { cost: "scrypt" });
}

/**
 * Whether a password is the one behind a stored hash, `$pbkdf2$` or `$scrypt$` (spec 2.4 rule 5), compared in constant
 * time. False for the wrong one, and for a hash that is malformed or asks for too much work.
 * @param hash pass `null` or `undefined` for a user who does not exist: false after the work of a hash, as for what is no
 * hash, so that the time it takes does not tell who exists
 * @param options `cost` is how much work that is: that of the field, or "scrypt"; 10 unless said otherwise. `signal` ends
 * the wait for a turn
 * @throws ConfigurationError for a cost that is no whole number from 1 to 14
 * @throws UnavailableError (503) when too many passwords wait, or the signal is aborted before its turn
 * @example
 * const user = await driver.findOne("user", { email })
 * if (!(await verifyPassword(password, user?.password))) throw new AuthenticationError("Email or password is wrong")
 */
export async function verifyPassword(
  password: string,
  hash: string | null | undefined,
  options?: PasswordWorkOptions,
): Promise<boolean> {
  return defaultHasher.verify(password, hash, options);
}

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

/** The process-wide hasher of the free functions. */
const defaultHasher: PasswordHasher = createPasswordHasher();
