import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationScope } from "../operation/operation-scope.ts";

/** A place in all encrypted records: an entity, and the id of the last record that is done. */
export interface KeyPosition {
  readonly entity: string | null;
  readonly after: string | null;
  readonly finished: readonly string[];
}

/** How many stored values of one field a key has; null for values that name no key. */
export interface KeyCount {
  readonly entity: string;
  readonly field: string;
  readonly keyId: string | null;
  readonly values: number;
}

/** How far a rotation is: `rotateEncryptionKeys` says what the numbers mean. */
export interface KeyRotation extends KeyPosition {
  readonly keyId: string;
  readonly total: number;
  readonly records: number;
  readonly reEncrypted: number;
  readonly overtaken: number;
  readonly failed: number;
}

/** The service `field-security.keys`: the keys of an app's encrypted fields. It never gives a key or a value. */
export interface EncryptionKeys {
  /** Ids of the keys; the first one encrypts. */
  readonly ids: readonly string[];
  /** Counts the values of some records. `next` is undefined after the last of them. */
  count(
    from: KeyPosition | undefined,
    records: number,
  ): Promise<{ readonly usages: readonly KeyCount[]; readonly next: KeyPosition | undefined }>;
  /** Gives the values of some records the first key. */
  rotate(from: KeyRotation | undefined, records: number): Promise<KeyRotation & { readonly complete: boolean }>;
}

/** The token of EncryptionKeys. */
export const EncryptionKeys: ServiceToken<EncryptionKeys> = token("field-security.keys");

/** The service `remote-joins.services`: what is known of the services that relations lead to. */
export interface RemoteServices {
  /** By name; "open" is left alone for a while, because it failed too often. */
  states(): readonly { readonly name: string; readonly state: "closed" | "open" | "half-open" }[];
}

/** The token of RemoteServices. */
export const RemoteServices: ServiceToken<RemoteServices> = token("remote-joins.services");

/** The service `audit.log`: entries about what was done without a change of a record. */
export interface AuditLog {
  /** Stores an entry in the name of a scope's caller, outside its transaction. */
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
