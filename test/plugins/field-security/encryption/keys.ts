import {
  createKeyRing,
  type KeyRing,
  type KeyRingOptions,
} from "../../../../src/plugins/field-security/encryption/key-ring.ts";

/** Keys that are easy to distinguish, also in a failure's output. */
export const KEY_1 = "11".repeat(32);
export const KEY_2 = "22".repeat(32);
export const KEY_3 = "33".repeat(32);

/** A ring with `v1`, or with the given keys; the first is primary. */
export function ringOf(
  keys: Readonly<Record<string, string | { readonly key: string; readonly bind: boolean }>> = { v1: KEY_1 },
  options?: KeyRingOptions,
): KeyRing {
  const ring = createKeyRing(options);
  for (const [id, entry] of Object.entries(keys)) {
    if (typeof entry === "string") ring.register(entry, id);
    else ring.register(entry.key, id, { bind: entry.bind });
  }
  return ring;
}

/** The bytes after the key id. */
export function sealedOf(encrypted: string): Buffer {
  return Buffer.from(encrypted.slice(encrypted.indexOf(":") + 1), "base64");
}

/** A stored value with other bytes. */
export function withSealed(encrypted: string, sealed: Buffer): string {
  return encrypted.slice(0, encrypted.indexOf(":") + 1) + sealed.toString("base64");
}

/** A value in the format without key ids. */
export function unlabelled(encrypted: string): string {
  return encrypted.slice(encrypted.indexOf(":") + 1);
}
