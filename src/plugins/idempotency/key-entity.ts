import { type AnyEntity, datetime, entity, string, text } from "../../entity/index.ts";

/** Name of the entity that keys are kept in. */
export const KEY = "idempotencyKey";

/**
 * What is known of a key. Its id is a digest of the caller and the key, so that the table tells neither.
 * @param encrypted whether answers are encrypted, by the app's keys
 */
export function keyEntity(encrypted: boolean): AnyEntity {
  return entity(KEY, {
    fingerprint: string.describe("Digest of the request, with the key as its secret"),
    token: string.describe("What all tries of the request have in common"),
    owner: string.describe("The try that works on it, or has answered"),
    status: string.describe("started or answered"),
    leaseUntil: datetime,
    expiresAt: datetime,
    answer: encrypted ? text.optional().encrypted() : text.optional(),
  })
    .internal()
    .timestamps(false)
    .index(["expiresAt"])
    .build();
}

/** A key as it is stored. */
export interface StoredKey {
  readonly id: string;
  readonly fingerprint: string;
  readonly token: string;
  readonly owner: string;
  readonly status: "started" | "answered";
  readonly leaseUntil: Date;
  readonly expiresAt: Date;
  readonly answer: string | null;
}
