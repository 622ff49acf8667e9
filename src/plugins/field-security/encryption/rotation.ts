import type { EntityLike } from "../../../entity/index.ts";
import type { Driver } from "../../../gate/index.ts";
import type { DecryptionFailure } from "../../../kernel/index.ts";
import type { AppEncryption } from "./app-keys.ts";
import type { KeyRing } from "./key-ring.ts";

/** How far a rotation is. Plain data: kept as JSON, it lets another process go on where this one was. */
export interface RotationProgress {
  /** Id of the key that values move to. */
  readonly keyId: string;
  /** Entity being worked on; `null` before the first and after the last. */
  readonly entity: string | null;
  /** Id of its last record that is done; `null` while none is. */
  readonly after: string | null;
  /** Entities that are done. */
  readonly finished: readonly string[];
  /** Records there were to look at when it began: those that hold any ciphertext. */
  readonly total: number;
  /** Records looked at. */
  readonly records: number;
  /** Values that were given the new key, or another blind index. */
  readonly reEncrypted: number;
  /** Times somebody else had changed a record since it was read; it was read again. */
  readonly overtaken: number;
  /** Values that do not decrypt; they stay as they are. */
  readonly failed: number;
}

/** What a rotation came to. */
export interface RotationResult extends RotationProgress {
  /** `false` when the signal stopped it before the end. */
  readonly complete: boolean;
}

/** A value that does not decrypt. */
export interface RotationFailure {
  readonly entity: string;
  readonly field: string;
  readonly id: string;
  readonly reason: DecryptionFailure;
}

/** Options of `rotateEncryptionKeys`. */
export interface RotationOptions {
  /** The base driver, which sees ciphertext. */
  readonly driver: Driver;
  /**
   * Keys as the app is given them; the first is the one that values move to.
   * @default KEELSON_ENCRYPTION_KEY, or else the keys of `initEncryption`
   */
  readonly encryption?: AppEncryption | undefined;
  /** Keys in a ring of your own, in place of `encryption`. */
  readonly ring?: KeyRing | undefined;
  /** Entities without encrypted fields are passed over. */
  readonly entities: readonly EntityLike[];
  /** Records read at a time. @default 200 */
  readonly batchSize?: number | undefined;
  /**
   * Encrypts values from before their field was encrypted, with their blind indexes; without it they count as failed.
   * @default false
   */
  readonly allowPlaintext?: boolean | undefined;
  /**
   * Makes blind indexes anew where they are not those of the index key there is now: after that key was lost or changed,
   * or when a field has become searchable.
   * @default false
   */
  readonly reindex?: boolean | undefined;
  /** Called after every batch, and awaited: the place to save progress. */
  readonly onProgress?: ((progress: RotationProgress) => unknown) | undefined;
  readonly onFailure?: ((failure: RotationFailure) => unknown) | undefined;
  /**
   * Progress of a rotation that was cut off. It saves time and nothing else: what has the new key is skipped anyway.
   * @default none; progress towards another key counts as none
   */
  readonly resumeFrom?: RotationProgress | undefined;
  /** Stops the rotation between two records. */
  readonly signal?: AbortSignal | undefined;
}
