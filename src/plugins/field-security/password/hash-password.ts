import { checkCost, DEFAULT_COST, type PasswordCost } from "./password-cost.ts";
import {
  createPasswordHasher,
  type PasswordCostOptions,
  type PasswordHasher,
  type PasswordWorkOptions,
} from "./password-hasher.ts";
import { readStoredHash } from "./stored-hash.ts";

/**
 * Hashes a password with scrypt: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` (spec 2.4 rule 5). For passwords outside of
 * `.password()` fields, which hash by themselves.
 * @param password 1 to 1,024 bytes of well-formed text, not trimmed or normalised
 * @throws BadRequestError for any other value
 * @throws UnavailableError (503) when too many passwords wait
 */
export async function hashPassword(password: string): Promise<string> {
  return defaultHasher.hash(password, { cost: "scrypt" });
}

/**
 * Whether a password matches a stored `$pbkdf2$` or `$scrypt$` hash (spec 2.4 rule 5), compared in constant time. False
 * for a wrong password, and for a hash that is malformed or needs too much work.
 * @param hash pass `null` or `undefined` for a user that does not exist. Without a valid hash the result is false after
 * the work of a hash, so that the time does not reveal which users exist
 * @param options `cost` is the work for a missing hash: pass the field's cost, or "scrypt"; 10 by default. `signal` ends
 * the wait for a turn
 * @throws ConfigurationError unless the cost is a whole number from 1 to 14, or "scrypt"
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
 * Whether a stored hash should be replaced at the next login, when the password is known: its form, cost, digest or
 * sizes differ from those of new hashes, or it is not a hash.
 * @param options `cost` is the field's cost, or "scrypt". Without it, hashes of both `.password()` and `hashPassword` are
 * up to date
 * @throws ConfigurationError unless the cost is a whole number from 1 to 14, or "scrypt"
 */
export function needsRehash(hash: string, { cost }: PasswordCostOptions = {}): boolean {
  if (cost !== undefined) checkCost(cost);
  const upToDate: readonly PasswordCost[] = cost === undefined ? [DEFAULT_COST, "scrypt"] : [cost];
  const stored = readStoredHash(hash);
  return stored === undefined || !upToDate.some((one) => stored.isOf(one));
}

/** The process-wide hasher of the free functions. */
const defaultHasher: PasswordHasher = createPasswordHasher();
