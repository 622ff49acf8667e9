import { pbkdf2, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { readCanonicalBase64 } from "../encryption/value-codec.ts";
import { iterationsOf, type PasswordCost } from "./password-cost.ts";

/** A parsed hash, whose work is known to be limited. */
interface StoredHash {
  /** Whether the password matches; compared in constant time. */
  matches(password: string): Promise<boolean>;
  /** Whether a new hash of this cost has the same form, parameters and sizes. */
  isOf(cost: PasswordCost): boolean;
}

/** Parses a stored hash of either form; undefined for other values. Does no hashing. */
export function readStoredHash(stored: unknown): StoredHash | undefined {
  return typeof stored === "string" ? (readPbkdf2(stored) ?? readScrypt(stored)) : undefined;
}

/** Bytes of the random salt of new hashes. */
const SALT_BYTES = 16;
const HASH_BYTES = 64;

const derivePbkdf2 = promisify(pbkdf2);

const STORED_PBKDF2 = /^\$pbkdf2\$([1-9]\d{3,7})\$([A-Za-z0-9+/=]{1,88})\$([A-Za-z0-9+/=]{1,88})$/;
/**
 * Digests by the length of the hash, because the stored form does not name the digest. Imported hashes may be SHA-256.
 */
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
  const hash = await derivePbkdf2(password, salt, iterations, HASH_BYTES, "sha512");
  return `$pbkdf2$${iterations}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/**
 * Parses a stored hash: 1,000 to 16,384,000 iterations, a salt of 8 to 64 bytes, a hash of 64 bytes (SHA-512) or 32
 * (SHA-256). Undefined for other values, before any work is done.
 */
function readPbkdf2(stored: string): StoredHash | undefined {
  const [, count, saltText = "", hashText = ""] = STORED_PBKDF2.exec(stored) ?? [];
  const iterations = Number(count);
  if (!(iterations >= LEAST_ITERATIONS && iterations <= MOST_ITERATIONS)) return undefined;
  const salt = readCanonicalBase64(saltText, 8, 64);
  const hash = readCanonicalBase64(hashText, 32, HASH_BYTES);
  const digest = hash && DIGESTS.get(hash.length);
  if (salt === undefined || hash === undefined || digest === undefined) return undefined;
  return {
    matches: async (password) =>
      timingSafeEqual(await derivePbkdf2(password, salt, iterations, hash.length, digest), hash),
    isOf: (cost) =>
      cost !== "scrypt" &&
      iterations === iterationsOf(cost) &&
      salt.length === SALT_BYTES &&
      hash.length === HASH_BYTES,
  };
}

const deriveScrypt: (password: string, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);

const STORED_SCRYPT =
  /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)\$([A-Za-z0-9+/=]{1,88})\$([A-Za-z0-9+/=]{1,88})$/;
/** Parameters that OWASP and ASVS 5.0 require; hashing uses 128 MiB. */
const LN = 17;
const R = 8;
const P = 1;
/** The most bytes for N and r: twice those of a new hash. */
const MAX_MEMORY = 256 * 1024 * 1024;
/** The most work: four times that of a new hash. */
const MAX_WORK = 4 * 2 ** LN * R * P;

/**
 * Hashes with scrypt (RFC 7914), N = 2^17, r = 8, p = 1, and a random salt: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` in
 * base64 (spec 2.4 rule 5). It holds 128 MiB of memory for the time of its work.
 */
export async function hashScrypt(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await deriveScrypt(password, salt, HASH_BYTES, limited(LN, R, P));
  return `$scrypt$ln=${LN},r=${R},p=${P}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/**
 * Parses a stored hash: ln of 10 or more, r of 8 to 32, at most 256 MiB for N and r (128 · N · r), such as ln=18 with
 * r=8, at most four times the work of new hashes, a salt of 8 to 64 bytes, a hash of 64 or 32 bytes. Undefined for
 * other values, before any work is done.
 */
function readScrypt(stored: string): StoredHash | undefined {
  const [, lnText, rText, pText, saltText = "", hashText = ""] = STORED_SCRYPT.exec(stored) ?? [];
  const [ln, r, p] = [Number(lnText), Number(rText), Number(pText)];
  if (!isBounded(ln, r, p)) return undefined;
  const salt = readCanonicalBase64(saltText, 8, 64);
  const hash = readCanonicalBase64(hashText, 32, HASH_BYTES);
  if (salt === undefined || hash === undefined || (hash.length !== 32 && hash.length !== HASH_BYTES)) return undefined;
  const options = limited(ln, r, p);
  return {
    matches: async (password) => timingSafeEqual(await deriveScrypt(password, salt, hash.length, options), hash),
    isOf: (cost) =>
      cost === "scrypt" && ln === LN && r === R && p === P && salt.length === SALT_BYTES && hash.length === HASH_BYTES,
  };
}

/** Whether the work is limited. With r below 8, OpenSSL would throw for some N. */
function isBounded(ln: number, r: number, p: number): boolean {
  const n = 2 ** ln;
  return ln >= 10 && r >= 8 && r <= 32 && 128 * r * n <= MAX_MEMORY && n * r * p <= MAX_WORK;
}

/**
 * Scrypt options with the memory limit of OpenSSL, which Node's default of 32 MiB does not allow: for N and r, and a
 * little for p.
 */
function limited(ln: number, r: number, p: number): ScryptOptions {
  const N = 2 ** ln;
  return { N, r, p, maxmem: 128 * r * (N + p + 2) };
}
