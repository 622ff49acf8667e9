import type { PasswordWorkOptions } from "./create-password-hasher.ts";
import { defaultHasher } from "./default-hasher.ts";

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
