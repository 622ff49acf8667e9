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
/** Bytes that N and r may take: twice those of a hash made today. */
const MAX_MEMORY = 256 * 1024 * 1024;
/** Four times the work of a hash made today. */
const MAX_WORK = 4 * 2 ** LN * R * P;

/**
 * Hashes with scrypt (RFC 7914), N = 2^17, r = 8, p = 1, and a random salt: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>` in
 * base64 (spec 2.4 rule 5). It holds 128 MiB of memory for the time of its work.
 */
export async function hashScrypt(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, HASH_BYTES, limited(LN, R, P));
  return `$scrypt$ln=${LN},r=${R},p=${P}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/**
 * Takes a stored hash apart: ln of 10 or more, r of 8 to 32, at most 256 MiB for N and r (128 · N · r), such as ln=18 with
 * r=8, and four times the work of new hashes, a salt of 8 to 64 bytes, a hash of 64 or 32 bytes. Undefined for anything else, before any work is done.
 */
export function readScrypt(stored: string): StoredHash | undefined {
  const [, lnText, rText, pText, saltText = "", hashText = ""] = STORED.exec(stored) ?? [];
  const [ln, r, p] = [Number(lnText), Number(rText), Number(pText)];
  if (!isBounded(ln, r, p)) return undefined;
  const salt = readCanonicalBase64(saltText, 8, 64);
  const hash = readCanonicalBase64(hashText, 32, HASH_BYTES);
  if (salt === undefined || hash === undefined || (hash.length !== 32 && hash.length !== HASH_BYTES)) return undefined;
  const options = limited(ln, r, p);
  return {
    matches: async (password) => timingSafeEqual(await derive(password, salt, hash.length, options), hash),
    isOf: (cost) =>
      cost === "scrypt" && ln === LN && r === R && p === P && salt.length === SALT_BYTES && hash.length === HASH_BYTES,
  };
}

/** With r below 8, OpenSSL would refuse some N by throwing. */
function isBounded(ln: number, r: number, p: number): boolean {
  const n = 2 ** ln;
  return ln >= 10 && r >= 8 && r <= 32 && 128 * r * n <= MAX_MEMORY && n * r * p <= MAX_WORK;
}

/** The memory that OpenSSL counts, for which Node's default of 32 MiB is too small: that of N and r, and a little for p. */
function limited(ln: number, r: number, p: number): ScryptOptions {
  const N = 2 ** ln;
  return { N, r, p, maxmem: 128 * r * (N + p + 2) };
}
