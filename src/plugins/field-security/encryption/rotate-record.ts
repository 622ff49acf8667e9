import type { AnyEntity } from "../../../entity/index.ts";
import type { Driver, Row } from "../../../gate/index.ts";
import { DatabaseError, DecryptionError, type DecryptionFailure } from "../../../kernel/index.ts";
import { blindIndex, blindIndexColumn } from "./blind-index.ts";
import { decrypt, encrypt, isPlaintext } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";
import { isCurrent, reEncrypt } from "./re-encrypt.ts";

/** The settings for rotating the records of one entity. */
interface Rotation {
  readonly driver: Driver;
  readonly ring: KeyRing;
  readonly allowPlaintext: boolean | undefined;
  readonly reindex: boolean | undefined;
  readonly entity: AnyEntity;
  readonly fields: readonly string[];
  readonly select: readonly string[];
}

/** A value that cannot be decrypted. */
export interface RotationFailure {
  readonly entity: string;
  readonly field: string;
  readonly id: string;
  readonly reason: DecryptionFailure;
}

interface RecordOutcome {
  readonly reEncrypted: number;
  readonly overtaken: number;
  readonly failures: readonly RotationFailure[];
}

/**
 * Re-encrypts the values of one record with the primary key, in one statement that only applies while the values are
 * unchanged. A concurrent write is never undone: the record is read again instead.
 */
export async function rotateRecord(rotation: Rotation, read: Row): Promise<RecordOutcome> {
  const { driver, entity, select } = rotation;
  let row = read;
  for (let overtaken = 0; ; overtaken++) {
    const { old, fresh, failures } = changeOf(rotation, row);
    const reEncrypted = Object.keys(old).length;
    const isDone = reEncrypted === 0 || (await driver.updateMany(entity, { id: row.id, ...old }, fresh)) > 0;
    if (isDone) return { reEncrypted, overtaken, failures };
    const now = await driver.findOne(entity, { id: row.id }, { select });
    if (now === null) return { reEncrypted: 0, overtaken: overtaken + 1, failures: [] };
    // An iv is never used twice, so equal values mean that the record did not change: a retry would never end.
    if (Object.entries(old).every(([field, value]) => now[field] === value))
      throw new DatabaseError(`${entity.name}: a record was not found by the ciphertext that was just read from it`);
    row = now;
  }
}

/** The old ciphertexts to replace, and the new values of their columns. */
interface Change {
  readonly old: Row;
  readonly fresh: Row;
  readonly failures: readonly RotationFailure[];
}

function changeOf(rotation: Rotation, row: Row): Change {
  const { entity, fields } = rotation;
  const old: Row = {};
  const fresh: Row = {};
  const failures: RotationFailure[] = [];
  for (const field of fields) {
    if (row[field] === null) continue;
    try {
      const change = freshValue(rotation, field, row);
      if (change === undefined) continue;
      Object.assign(fresh, change);
      old[field] = row[field];
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      failures.push({ entity: entity.name, field, id: row.id as string, reason: error.reason });
    }
  }
  return { old, fresh, failures };
}

/**
 * The columns to store instead of a value, including its blind index; undefined when nothing has to change.
 * @throws DecryptionError when it cannot be decrypted
 */
function freshValue({ ring, entity, allowPlaintext, reindex }: Rotation, field: string, row: Row): Row | undefined {
  const value = row[field] as string;
  const place = { entity: entity.name, field, id: row.id as string };
  const column = blindIndexColumn(entity, field);
  if (allowPlaintext && isPlaintext(ring, value)) {
    const index = column === undefined ? {} : { [column]: blindIndex(ring, place, value) };
    return { ...index, [field]: encrypt(ring, value, place) };
  }
  const fresh: Row = {};
  if (reindex && column !== undefined) {
    const plain = decrypt(ring, value, place);
    if (typeof plain === "object" && !(plain instanceof Date))
      throw new DecryptionError("the decrypted value has no blind index", { reason: "malformed" });
    const index = blindIndex(ring, place, plain);
    if (row[column] !== index) fresh[column] = index;
  }
  const bind = ring.binds(ring.primary as string);
  if (!isCurrent(ring, value)) fresh[field] = reEncrypt(ring, value, place, { bind });
  return Object.keys(fresh).length === 0 ? undefined : fresh;
}
