import { pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { iterationsOf } from "./password-cost.ts";
import { readCanonicalBase64 } from "./read-canonical-base64.ts";
import { HASH_BYTES, SALT_BYTES, type StoredHash } from "./stored-hash.ts";

const derive = promisify(pbkdf2);

const STORED = /^\$pbkdf2\$([1-9]\d{3,7})\$([A-Za-z0-9+/=]{1,88})\$([A-Za-z0-9+/=]{1,88})$/;
/** The digest is not in the stored form; the length of the hash tells it. Hashes from elsewhere may be SHA-256. */
const DIGESTS = new Map([
  [HASH_BYTES, "sha512"],
  [32, "sha256"],
]);
const LEAST_ITERATIONS = 1_000;
const MOST_ITERATIONS = iterationsOf(14);

/**
 * Hashes with PBKDF2-HMAC-SHA-512 and a random salt: `$pbkdf2$<iterations>$<salt_base64>$<hash_base64>` (spec 2.4 rule 2,
 * RFC 8018 section 5.2).
 * @param cost a whole number from 1 to 14
 */
export async function hashPbkdf2(password: string, cost: number): Promise<string> {
  const iterations = iterationsOf(cost);
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, iterations, HASH_BYTES, "sha512");
  return `$pbkdf2$${iterations}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/**
 * Takes a stored hash apart: 1,000 to 16,384,000 iterations, a salt of 8 to 64 bytes, a hash of 64 bytes (SHA-512) or 32
 * (SHA-256). Undefined for anything else, before any work is done.
 */
export function readPbkdf2(stored: string): StoredHash | undefined {
  const [, count, saltText = "", hashText = ""] = STORED.exec(stored) ?? [];
  const iterations = Number(count);
  if (!(iterations >= LEAST_ITERATIONS && iterations <= MOST_ITERATIONS)) return undefined;
  const salt = readCanonicalBase64(saltText, 8, 64);
  const hash = readCanonicalBase64(hashText, 32, HASH_BYTES);
  const digest = hash && DIGESTS.get(hash.length);
  if (salt === undefined || hash === undefined || digest === undefined) return undefined;
  return {
    matches: async (password) => timingSafeEqual(await derive(password, salt, iterations, hash.length, digest), hash),
    isOf: (cost) =>
      cost !== "scrypt" &&
      iterations === iterationsOf(cost) &&
      salt.length === SALT_BYTES &&
      hash.length === HASH_BYTES,
  };
}
