import type { KeyObject } from "node:crypto";
import { ConfigurationError } from "../../../entity/index.ts";
import { didYouMean, type Logger } from "../../../kernel/index.ts";
import { checkKeyId, type DataKey, isZeroKey, quotedKeyId, readKey } from "./data-key.ts";

/** What a key ring holds and does not show. */
export interface KeyStore {
  readonly keys: Map<string, DataKey>;
  primary: DataKey | undefined;
  /** The key that was registered first, whether or not it still is. */
  first: KeyObject | undefined;
  /** Whether there was ever another key than the first. */
  several: boolean;
  indexKey: KeyObject | undefined;
  /** Encryptions by key id. */
  readonly counts: Map<string, number>;
  readonly warnAfter: number;
  log(): Logger;
}

/** @throws ConfigurationError when there is no such key */
export function findKey({ keys }: KeyStore, keyId: string): DataKey {
  const key = keys.get(keyId);
  if (key !== undefined) return key;
  const ids = keys.size === 0 ? "none is" : `registered: ${[...keys.keys()].join(", ")}`;
  const hint = didYouMean(String(keyId), keys.keys());
  throw new ConfigurationError(`no encryption key ${quotedKeyId(keyId)} is registered; ${ids}.${hint}`);
}

/** @throws ConfigurationError when key or id are malformed, or the id already means something else */
export function addKey(store: KeyStore, hex: string, keyId: string, bind: boolean): void {
  const secret = readKey(hex);
  checkKeyId(keyId);
  const known = store.keys.get(keyId);
  if (known !== undefined) {
    const isSame = known.secret.equals(secret);
    if (isSame && known.bind === bind) return;
    const how = isSame ? `with bind: ${known.bind}` : "for another key";
    throw new ConfigurationError(`the key id "${keyId}" is already registered ${how}; give this key an id of its own`);
  }
  if (isZeroKey(secret)) store.log().warn(`The encryption key "${keyId}" is all zeros, which protects nothing`);
  const key: DataKey = Object.freeze({ id: keyId, secret, bind });
  store.keys.set(keyId, key);
  store.primary ??= key;
  store.first ??= secret;
  store.several ||= !store.first.equals(secret);
}

/** @throws ConfigurationError for the primary key, and unknown ids */
export function dropKey(store: KeyStore, keyId: string): void {
  if (findKey(store, keyId) === store.primary)
    throw new ConfigurationError(`"${keyId}" is the primary key; make another one primary before removing it`);
  store.keys.delete(keyId);
}

/** @throws ConfigurationError when malformed, or another one is set */
export function setIndexKey(store: KeyStore, hex: string): void {
  const secret = readKey(hex);
  if (store.indexKey !== undefined && !store.indexKey.equals(secret))
    throw new ConfigurationError("another index key is set; by a second one, stored values would not be found again");
  store.indexKey = secret;
}

export function clearStore(store: KeyStore): void {
  store.keys.clear();
  store.counts.clear();
  store.primary = undefined;
  store.first = undefined;
  store.several = false;
  store.indexKey = undefined;
}

/** What is said when something needs a key and there is none. */
export function noKey(): ConfigurationError {
  return new ConfigurationError(
    "there is no encryption key; call initEncryption({ key }) first, or give the app `encryption: { key }`",
  );
}

/** The key that encrypts next; taking it counts. @throws ConfigurationError while there is none */
export function takePrimary({ primary, counts, warnAfter, log }: KeyStore): DataKey {
  if (primary === undefined) throw noKey();
  const count = (counts.get(primary.id) ?? 0) + 1;
  counts.set(primary.id, count);
  if (count === warnAfter)
    log().warn(`The encryption key "${primary.id}" has encrypted ${count} values; make another key primary`);
  return primary;
}

/** Whether there are several keys, none of which is known to be the one that blind indexes are derived from. */
export function lacksIndexKey({ indexKey, several }: KeyStore): boolean {
  return indexKey === undefined && several;
}

/**
 * What blind indexes are derived from: the index key, or else the only key there has been.
 * @throws ConfigurationError when it cannot be known
 */
export function indexKeyOf(store: KeyStore): KeyObject {
  const secret = store.indexKey ?? store.first;
  if (secret === undefined) throw noKey();
  if (lacksIndexKey(store))
    throw new ConfigurationError(
      "searchable encrypted fields and more than one key need an index key: set `indexKey` to the key that was there " +
        "first, and keep it after that key is removed",
    );
  return secret;
}
