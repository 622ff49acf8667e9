import type { AppEncryption } from "./encryption/app-keys.ts";
import type { PasswordHasherOptions } from "./password/create-password-hasher.ts";
import type { OnDecryptError } from "./storage/encryption-plan.ts";

/** Options of `fieldSecurity`. */
export interface FieldSecurityOptions {
  /** Keys of this app. @default KEELSON_ENCRYPTION_KEY, or else the keys of `initEncryption` */
  readonly encryption?: AppEncryption | undefined;
  /** A value that cannot be decrypted fails the request, or reads as null. @default "fail" */
  readonly onDecryptError?: OnDecryptError | undefined;
  /**
   * For the time of a migration: what is stored in a field and is no ciphertext, because it was written before the field
   * was encrypted, is returned as it is. Whoever writes to the database can then put values there without a key.
   * @default false
   */
  readonly allowPlaintext?: boolean | undefined;
  /** How many passwords are hashed at once, and how many wait. @default as createPasswordHasher */
  readonly passwords?: PasswordHasherOptions | undefined;
}
