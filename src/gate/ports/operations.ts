import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationScope } from "../operation/operation-scope.ts";

/** A position in all encrypted records: an entity, and the id of the last processed record. */
export interface KeyPosition {
  readonly entity: string | null;
  readonly after: string | null;
  readonly finished: readonly string[];
}

/**
 * The number of stored values of a field that are encrypted with a key; `keyId` is null for values that do not name a
 * key.
 */
export interface KeyCount {
  readonly entity: string;
  readonly field: string;
  readonly keyId: string | null;
  readonly values: number;
}

/** The progress of a rotation; see `rotateEncryptionKeys` for the numbers. */
export interface KeyRotation extends KeyPosition {
  readonly keyId: string;
  readonly total: number;
  readonly records: number;
  readonly reEncrypted: number;
  readonly overtaken: number;
  readonly failed: number;
}

/** The service `field-security.keys`: the keys of an app's encrypted fields. It never returns keys or values. */
export interface EncryptionKeys {
  /** Ids of the keys; the first one encrypts. */
  readonly ids: readonly string[];
  /** Counts the values of the next records. `next` is undefined after the last of them. */
  count(
    from: KeyPosition | undefined,
    records: number,
  ): Promise<{ readonly usages: readonly KeyCount[]; readonly next: KeyPosition | undefined }>;
  /** Re-encrypts the values of the next records with the first key. */
  rotate(from: KeyRotation | undefined, records: number): Promise<KeyRotation & { readonly complete: boolean }>;
}

/** The token of EncryptionKeys. */
export const EncryptionKeys: ServiceToken<EncryptionKeys> = token("field-security.keys");

/** The service `remote-joins.services`: the state of the remote services that relations use. */
export interface RemoteServices {
  /**
   * The state of each circuit breaker. A service that is "open" is not called for a while, because too many calls
   * failed.
   */
  states(): readonly { readonly name: string; readonly state: "closed" | "open" | "half-open" }[];
}

/** The token of RemoteServices. */
export const RemoteServices: ServiceToken<RemoteServices> = token("remote-joins.services");

/** The service `audit.log`: stores entries for actions that do not change a record. */
export interface AuditLog {
  /** Stores an entry with the scope's caller, outside its transaction. */
  note(
    scope: OperationScope,
    entry: {
      readonly operation: string;
      readonly action: string;
      readonly entity: string;
      readonly recordId: string;
    },
  ): Promise<void>;
}

/** The token of AuditLog. */
export const AuditLog: ServiceToken<AuditLog> = token("audit.log");
