import type { AnyEntity } from "../../../entity/index.ts";
import { DatabaseError, DecryptionError, type Driver, type Row } from "../../../kernel/index.ts";
import { blindIndex } from "./blind-index.ts";
import { encrypt, isEncryptedWith } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";
import { isCurrent, reEncrypt } from "./re-encrypt.ts";
import type { RotationFailure } from "./rotation.ts";

/** What a record is rotated with. */
interface Rotation {
  readonly driver: Driver;
  readonly ring: KeyRing;
  readonly allowPlaintext: boolean | undefined;
}

/** What became of one record. */
export interface RecordOutcome {
  readonly reEncrypted: number;
  readonly overtaken: number;
  readonly failures: readonly RotationFailure[];
}

/** Old and new ciphertext of the values that have to change. */
interface Change {
  readonly old: Row;
  readonly fresh: Row;
  readonly failures: readonly RotationFailure[];
}

function changeOf(
  { ring, allowPlaintext }: Omit<Rotation, "driver">,
  { name: entity, columns }: AnyEntity,
  fields: readonly string[],
  row: Row,
): Change {
  const id = row.id as string;
  const bind = ring.binds(ring.primary as string);
  const old: Row = {};
  const fresh: Row = {};
  const failures: RotationFailure[] = [];
  for (const field of fields) {
    const value = row[field] as string | null;
    if (value === null || isCurrent(ring, value)) continue;
    if (allowPlaintext && !isEncryptedWith(ring, value)) {
      const index = Object.values(columns).find(({ of }) => of === field);
      if (index !== undefined) fresh[index.name] = blindIndex(ring, { entity, field }, value);
      fresh[field] = encrypt(ring, value, { entity, field, id });
      old[field] = value;
      continue;
    }
    try {
      fresh[field] = reEncrypt(ring, value, { entity, field, id }, { bind });
      old[field] = value;
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      failures.push({ entity, field, id, reason: error.reason });
    }
  }
  return { old, fresh, failures };
}

/**
 * Gives the values of one record the primary key: one statement that only applies while they are what was read. A write
 * that came in between is never undone; the record is read again instead.
 */
export async function rotateRecord(
  { driver, ...how }: Rotation,
  entity: AnyEntity,
  fields: readonly string[],
  read: Row,
): Promise<RecordOutcome> {
  let row = read;
  for (let overtaken = 0; ; overtaken++) {
    const { old, fresh, failures } = changeOf(how, entity, fields, row);
    const reEncrypted = Object.keys(old).length;
    const isDone = reEncrypted === 0 || (await driver.updateMany(entity, { id: row.id, ...old }, fresh)) > 0;
    if (isDone) return { reEncrypted, overtaken, failures };
    const now = await driver.findOne(entity, { id: row.id }, { select: ["id", ...fields] });
    if (now === null) return { reEncrypted: 0, overtaken: overtaken + 1, failures: [] };
    // No iv comes twice, so equal values mean that nobody wrote, and that trying again would never end.
    if (Object.entries(old).every(([field, value]) => now[field] === value))
      throw new DatabaseError(`${entity.name}: a record was not found by the ciphertext that was just read from it`);
    row = now;
  }
}
