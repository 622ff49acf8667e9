import type { KeyObject } from "node:crypto";
import { inspect } from "node:util";
import { ConfigurationError } from "../../../entity/index.ts";
import { didYouMean, getLogger, type Logger, safeLogger } from "../../../kernel/index.ts";
import { checkKeyId, type DataKey, isZeroKey, quotedKeyId, readKey } from "./data-key.ts";

/** Options of one encryption key. */
export interface KeyOptions {
  /**
   * Binds every value of this key to its entity, field and record: copied elsewhere, it cannot be decrypted.
   * @default false
   */
  readonly bind?: boolean | undefined;
}

/** Keys by id. Code that holds the ring can read their ids, but not their bytes. */
export interface KeyRing {
  /** Ids in the order of registration. */
  readonly ids: readonly string[];
  /** Id of the key for new values; `null` without a key. */
  readonly primary: string | null;
  has(keyId: string): boolean;
  /** Whether values of this key are bound to their place. @throws ConfigurationError for an unknown key */
  binds(keyId: string): boolean;
  /**
   * Adds a key. The first key becomes primary. Adding the same key again has no effect.
   * @param key exactly 64 hexadecimal characters
   * @param keyId 1 to 64 of `A-Z a-z 0-9 . _ -`
   * @throws ConfigurationError when the key or the id is malformed, or the id is taken by another key
   */
  register(key: string, keyId: string, options?: KeyOptions): void;
  /** @throws ConfigurationError for an unknown key */
  setPrimary(keyId: string): void;
  /**
   * Sets the key from which blind indexes are derived, as 64 hexadecimal characters; see `blindIndex`.
   * @throws ConfigurationError when it is malformed, or a different one is already set
   */
  setIndexKey(key: string): void;
  /**
   * Removes a key. Its values can no longer be read.
   * @throws ConfigurationError for the primary key, and unknown ids
   */
  remove(keyId: string): void;
  /** Removes all keys. */
  clear(): void;
}

/** Options of `createKeyRing`. */
export interface KeyRingOptions {
  /** @default the process-wide logger */
  readonly log?: Logger | undefined;
  /**
   * The number of values that one key encrypts in this process before a warning is logged. Because ivs are random, all
   * processes together must stay below 2^32 values per key (NIST SP 800-38D, 8.3).
   * @default 2147483648
   */
  readonly warnAfter?: number | undefined;
}

/** The private state of a ring. */
interface KeyStore {
  readonly keys: Map<string, DataKey>;
  primary: DataKey | undefined;
  /** The key that was registered first, even if it has been removed. */
  first: KeyObject | undefined;
  /** Whether a second key was ever registered. */
  several: boolean;
  indexKey: KeyObject | undefined;
  readonly counts: Map<string, number>;
  readonly warnAfter: number;
  log(): Logger;
}

const stores = new WeakMap<KeyRing, KeyStore>();
const EMPTY = Object.freeze({ primary: undefined, first: undefined, several: false, indexKey: undefined });

/** Creates a registry of encryption keys. Rings are independent of each other. */
export function createKeyRing({ log, warnAfter = 2 ** 31 }: KeyRingOptions = {}): KeyRing {
  const keys = new Map<string, DataKey>();
  const counts = new Map<string, number>();
  const store: KeyStore = { ...EMPTY, keys, counts, warnAfter, log: () => safeLogger(log ?? getLogger()) };
  const visible = () => ({ primary: ring.primary, ids: ring.ids });
  const ring = Object.freeze({
    get ids(): readonly string[] {
      return [...keys.keys()];
    },
    get primary(): string | null {
      return store.primary?.id ?? null;
    },
    has: (keyId: string) => keys.has(keyId),
    binds: (keyId: string) => findKey(keys, keyId).bind,
    register: (hex: string, keyId: string, { bind = false }: KeyOptions = {}) => addKey(store, hex, keyId, bind),
    setPrimary(keyId: string): void {
      store.primary = findKey(keys, keyId);
    },
    setIndexKey(hex: string): void {
      const secret = readKey(hex);
      if (store.indexKey !== undefined && !store.indexKey.equals(secret))
        throw new ConfigurationError(
          "another index key is set; by a second one, stored values would not be found again",
        );
      store.indexKey = secret;
    },
    remove(keyId: string): void {
      if (findKey(keys, keyId) === store.primary)
        throw new ConfigurationError(`"${keyId}" is the primary key; make another one primary before removing it`);
      keys.delete(keyId);
    },
    clear(): void {
      keys.clear();
      counts.clear();
      Object.assign(store, EMPTY);
    },
    toJSON: visible,
    [inspect.custom]: visible,
  });
  stores.set(ring, store);
  return ring;
}

function findKey(keys: ReadonlyMap<string, DataKey>, keyId: string): DataKey {
  const key = keys.get(keyId);
  if (key !== undefined) return key;
  const ids = keys.size === 0 ? "none is" : `registered: ${[...keys.keys()].join(", ")}`;
  const hint = didYouMean(String(keyId), keys.keys());
  throw new ConfigurationError(`no encryption key ${quotedKeyId(keyId)} is registered; ${ids}.${hint}`);
}

function addKey(store: KeyStore, hex: string, keyId: string, bind: boolean): void {
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

/** The error when no key is registered. */
export function noKey(): ConfigurationError {
  return new ConfigurationError(
    "there is no encryption key; call initEncryption({ key }) first, or give the app `encryption: { key }`",
  );
}

function storeOf(ring: KeyRing): KeyStore {
  return stores.get(ring) as KeyStore;
}

/** The keys of a ring by id; internal to this plugin. */
export function keysOf(ring: KeyRing): ReadonlyMap<string, DataKey> {
  return storeOf(ring).keys;
}

/** Returns the primary key and counts its use. @throws ConfigurationError without a primary key */
export function takePrimary(ring: KeyRing): DataKey {
  const { primary, counts, warnAfter, log } = storeOf(ring);
  if (primary === undefined) throw noKey();
  const count = (counts.get(primary.id) ?? 0) + 1;
  counts.set(primary.id, count);
  if (count === warnAfter)
    log().warn(`The encryption key "${primary.id}" has encrypted ${count} values; make another key primary`);
  return primary;
}

/** Whether there were several keys, so that it is unknown which of them blind indexes are derived from. */
export function lacksIndexKey(ring: KeyRing): boolean {
  const { indexKey, several } = storeOf(ring);
  return indexKey === undefined && several;
}

/**
 * The key from which blind indexes are derived: the index key, or the only key that was ever registered.
 * @throws ConfigurationError when it is unknown
 */
export function indexKeyOf(ring: KeyRing): KeyObject {
  const { indexKey, first } = storeOf(ring);
  const secret = indexKey ?? first;
  if (secret === undefined) throw noKey();
  if (lacksIndexKey(ring))
    throw new ConfigurationError(
      "searchable encrypted fields and more than one key need an index key: set `indexKey` to the key that was there " +
        "first, and keep it after that key is removed",
    );
  return secret;
}

/** The process-wide ring of the free functions. Apps with their own keys do not use it. */
export const defaultRing: KeyRing = createKeyRing();
