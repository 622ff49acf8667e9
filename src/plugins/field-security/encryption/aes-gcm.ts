import { createCipheriv, createDecipheriv, type KeyObject } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
export const IV_BYTES = 12;
export const TAG_BYTES = 16;
// Without it Node accepts a tag of 4 bytes, which is forged in minutes.
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/**
 * AES-256-GCM as NIST SP 800-38D has it: iv + ciphertext + tag.
 * @param iv 12 bytes that this key has never seen; the same iv twice gives the key's authentication away
 */
export function seal(key: KeyObject, iv: Uint8Array, plaintext: Uint8Array, additional: Uint8Array): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, iv, OPTIONS).setAAD(additional);
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** The plaintext of at least 28 sealed bytes; undefined when key, bytes and additional data do not belong together. */
export function open(key: KeyObject, sealed: Uint8Array, additional: Uint8Array): Buffer | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), OPTIONS)
    .setAAD(additional)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  const plaintext = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    return undefined;
  }
}
