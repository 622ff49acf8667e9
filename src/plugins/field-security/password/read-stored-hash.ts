import { readPbkdf2 } from "./pbkdf2.ts";
import { readScrypt } from "./scrypt.ts";
import type { StoredHash } from "./stored-hash.ts";

/** Takes a stored hash of either form apart; undefined for anything else, without any work. */
export function readStoredHash(stored: unknown): StoredHash | undefined {
  return typeof stored === "string" ? (readPbkdf2(stored) ?? readScrypt(stored)) : undefined;
}
