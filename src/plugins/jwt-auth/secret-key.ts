import { createSecretKey, type KeyObject } from "node:crypto";

/** A secret as a key object: it shows nothing when it is printed, and later changes of the bytes do not reach it. */
export function secretKey(secret: string | Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(secret));
}
