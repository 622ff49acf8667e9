import { ConfigurationError } from "../../../entity/index.ts";
import type { Logger } from "../../../kernel/index.ts";
import { DEFAULT_KEY_ID } from "./data-key.ts";
import type { EncryptionOptions } from "./functions.ts";
import { createKeyRing, defaultRing, type KeyRing } from "./key-ring.ts";

/** An additional key of an app, for reading. */
export interface FurtherKey {
  readonly key: string;
  readonly keyId: string;
  readonly bind?: boolean | undefined;
}

/** Keys of one app. */
export interface AppEncryption extends EncryptionOptions {
  /** Keys of older values. @default none */
  readonly keys?: readonly FurtherKey[] | undefined;
}

/**
 * The keys of an app: the given ones; otherwise those of KEELSON_ENCRYPTION_KEY (`<64 hex>`, or several `<id>:<64 hex>`
 * separated by commas, the first of which is primary); otherwise the process-wide keys of `initEncryption`.
 * @throws ConfigurationError when a key is malformed
 */
export function keysOfApp(given: AppEncryption | undefined, log: Logger): KeyRing {
  const options = given ?? fromEnvironment(process.env.KEELSON_ENCRYPTION_KEY);
  if (options === undefined) return defaultRing;
  const ring = createKeyRing({ log });
  const { key, keyId = DEFAULT_KEY_ID, bind, indexKey, keys = [] } = options;
  ring.register(key, keyId, { bind });
  if (indexKey !== undefined) ring.setIndexKey(indexKey);
  for (const further of keys) ring.register(further.key, further.keyId, { bind: further.bind });
  return ring;
}

function fromEnvironment(text: string | undefined): AppEncryption | undefined {
  if (text === undefined || text === "") return undefined;
  const [first, ...rest] = text.split(",").map((part) => {
    const [key, keyId, ...more] = part.trim().split(":").reverse();
    if (more.length > 0)
      throw new ConfigurationError("KEELSON_ENCRYPTION_KEY: a key id has no colon; write <id>:<64 hex>");
    return { key: key as string, keyId };
  });
  if (rest.some(({ keyId }) => keyId === undefined))
    throw new ConfigurationError(
      "KEELSON_ENCRYPTION_KEY: with several keys each needs its id, as in new:<64 hex>,old:<64 hex>",
    );
  return { ...(first as { key: string; keyId: string | undefined }), keys: rest as FurtherKey[] };
}
