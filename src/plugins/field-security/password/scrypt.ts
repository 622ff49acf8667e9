import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { readCanonicalBase64 } from "./read-canonical-base64.ts";
import { HASH_BYTES, SALT_BYTES, type StoredHash } from "./stored-hash.ts";

const derive: (password: string, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);

const STORED = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)\$([A-Za-z0-9+/=]{1,88})\$([A-Za-z0-9+/=]{1,88})$/;
/** What OWASP and ASVS 5.0 ask for; 128 MiB while it runs. */
const LN = 17;
const R = 8;
const P = 1;
/** Bytes. Node's own default of 32 MiB is too small for these parameters. */
const MAX_MEMORY = 256 * 1024 * 1024;
/** Four times the work of a hash made today. */
const MAX_WORK = 4 * 2 ** LN * R * P;

/**
 * Hashes with scrypt (RFC 7914), N = 2^17, r = 8, p = 1, and a random salt: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` in
 * base64 (spec 2.4 rule 5). It holds 128 MiB of memory for the time of its work.
 */
export async function hashScrypt(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, HASH_BYTES, { N: 2 ** LN, r: R, p: P, maxmem: MAX_MEMORY });
  return `$scrypt$ln=${LN},r=${R},p=${P}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/**
 * Takes a stored hash apart: ln of 10 or more, r of 8 to 32, at most 256 MiB and four times the work of new hashes, a salt
 * of 8 to 64 bytes, a hash of 64 or 32 bytes. Undefined for anything else, before any work is done.
 */
export function readScrypt(stored: string): StoredHash | undefined {
  const [, lnText, rText, pText, saltText = "", hashText = ""] = STORED.exec(stored) ?? [];
  const [ln, r, p] = [Number(lnText), Number(rText), Number(pText)];
  if (!isBounded(ln, r, p)) return undefined;
  const salt = readCanonicalBase64(saltText, 8, 64);
  const hash = readCanonicalBase64(hashText, 32, HASH_BYTES);
  if (salt === undefined || hash === undefined || (hash.length !== 32 && hash.length !== HASH_BYTES)) return undefined;
  const options = { N: 2 ** ln, r, p, maxmem: MAX_MEMORY };
  return {
    matches: async (password) => timingSafeEqual(await derive(password, salt, hash.length, options), hash),
    isOf: (cost) =>
      cost === "scrypt" && ln === LN && r === R && p === P && salt.length === SALT_BYTES && hash.length === HASH_BYTES,
  };
}

/** Memory is what OpenSSL counts against `maxmem`; with r below 8 it would refuse some N by throwing. */
function isBounded(ln: number, r: number, p: number): boolean {
  const n = 2 ** ln;
  return ln >= 10 && r >= 8 && r <= 32 && 128 * r * (n + p + 2) <= MAX_MEMORY && n * r * p <= MAX_WORK;
}
