import type { AnyEntity } from "../../../entity/index.ts";
import { DecryptionError, type Row } from "../../../kernel/index.ts";
import { blindIndex } from "./blind-index.ts";
import { blindIndexColumn } from "./blind-index-column.ts";
import { decrypt, encrypt, isPlaintext } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";
import { isCurrent, reEncrypt } from "./re-encrypt.ts";

/** How values are rotated. */
export interface HowToRotate {
  readonly ring: KeyRing;
  readonly allowPlaintext: boolean | undefined;
  readonly reindex: boolean | undefined;
}

/**
 * What has to be stored in place of a value, its blind index included; undefined when it is as it should be.
 * @throws DecryptionError when it does not open
 */
export function freshValue(
  { ring, allowPlaintext, reindex }: HowToRotate,
  entity: AnyEntity,
  field: string,
  row: Row,
): Row | undefined {
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
