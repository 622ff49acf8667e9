import { inspect } from "node:util";
import { getLogger, type Logger, safeLogger } from "../../../kernel/index.ts";
import { addKey, clearStore, dropKey, findKey, type KeyStore, setIndexKey } from "./key-store.ts";

/** Options of one encryption key. */
export interface KeyOptions {
  /**
   * Binds every value of this key to its entity, field and record: copied elsewhere, it does not open.
   * @default false
   */
  readonly bind?: boolean | undefined;
}

/** Keys by id. What it shows of them is their ids; their bytes are out of reach of whoever holds the ring. */
export interface KeyRing {
  /** Ids in the order of registration. */
  readonly ids: readonly string[];
  /** Id of the key that encrypts; `null` while there is no key. */
  readonly primary: string | null;
  has(keyId: string): boolean;
  /** Whether values of this key are bound to their place. @throws ConfigurationError when there is no such key */
  binds(keyId: string): boolean;
  /**
   * Adds a key; the first one becomes primary. The same key again changes nothing.
   * @param key exactly 64 hexadecimal characters
   * @param keyId 1 to 64 of `A-Z a-z 0-9 . _ -`
   * @throws ConfigurationError when key or id are malformed, or the id already means something else
   */
  register(key: string, keyId: string, options?: KeyOptions): void;
  /** @throws ConfigurationError when there is no such key */
  setPrimary(keyId: string): void;
  /**
   * Sets the key that blind indexes are derived from, 64 hexadecimal characters; see `blindIndex`.
   * @throws ConfigurationError when malformed, or another one is set
   */
  setIndexKey(key: string): void;
  /**
   * Forgets a key: what it encrypted can no longer be read.
   * @throws ConfigurationError for the primary key, and unknown ids
   */
  remove(keyId: string): void;
  /** Forgets everything. */
  clear(): void;
}

/** Options of `createKeyRing`. */
export interface KeyRingOptions {
  /** @default the process-wide logger */
  readonly log?: Logger | undefined;
  /**
   * How many values one key encrypts in this process before the log says that it is time for another. With random ivs
   * all processes together must stay below 2^32 (NIST SP 800-38D, 8.3).
   * @default 2147483648
   */
  readonly warnAfter?: number | undefined;
}

const stores = new WeakMap<KeyRing, KeyStore>();

/** What a ring holds; for this folder only. */
export function storeOf(ring: KeyRing): KeyStore {
  return stores.get(ring) as KeyStore;
}

/** A registry of encryption keys. Two rings share nothing. */
export function createKeyRing({ log, warnAfter = 2 ** 31 }: KeyRingOptions = {}): KeyRing {
  const store: KeyStore = {
    keys: new Map(),
    primary: undefined,
    first: undefined,
    several: false,
    indexKey: undefined,
    counts: new Map(),
    warnAfter,
    log: () => safeLogger(log ?? getLogger()),
  };
  const visible = () => ({ primary: ring.primary, ids: ring.ids });
  const ring = Object.freeze({
    get ids(): readonly string[] {
      return [...store.keys.keys()];
    },
    get primary(): string | null {
      return store.primary?.id ?? null;
    },
    has: (keyId: string) => store.keys.has(keyId),
    binds: (keyId: string) => findKey(store, keyId).bind,
    register: (key: string, keyId: string, { bind = false }: KeyOptions = {}) => addKey(store, key, keyId, bind),
    setPrimary(keyId: string): void {
      store.primary = findKey(store, keyId);
    },
    setIndexKey: (key: string) => setIndexKey(store, key),
    remove: (keyId: string) => dropKey(store, keyId),
    clear: () => clearStore(store),
    toJSON: visible,
    [inspect.custom]: visible,
  });
  stores.set(ring, store);
  return ring;
}
