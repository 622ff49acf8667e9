import type { PasswordCostOptions } from "./create-password-hasher.ts";
import { defaultHasher } from "./default-hasher.ts";

/**
 * Whether a password is the one behind a stored hash, `$pbkdf2$` or `$scrypt$` (spec 2.4 rule 5). False for the wrong
 * one, and at once for a hash that is malformed or asks for too much work; compared in constant time.
 * @param hash pass `null` or `undefined` for a user who does not exist: false after the work of a hash, so that the time
 * it takes does not tell who exists. `cost` is how much work: that of the field, or "scrypt"; 10 unless said otherwise
 * @throws ConfigurationError for a cost that is no whole number from 1 to 14
 * @throws UnavailableError (503) when too many passwords wait
 * @example
 * const user = await driver.findOne("user", { email })
 * if (!(await verifyPassword(password, user?.password))) throw new AuthenticationError("Email or password is wrong")
 */
export async function verifyPassword(
  password: string,
  hash: string | null | undefined,
  options?: PasswordCostOptions,
): Promise<boolean> {
  return defaultHasher.verify(password, hash, options);
}
