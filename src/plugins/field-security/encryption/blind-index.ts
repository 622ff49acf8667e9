import { createHmac, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import type { AnyEntity } from "../../../entity/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { indexKeyOf, type KeyRing } from "./key-ring.ts";
import { encodeValue, lengthPrefixed } from "./value-codec.ts";

/** Derived field keys, by the key they are derived from. */
const derived = new WeakMap<KeyObject, Map<string, KeyObject>>();

/** HKDF-SHA-256 (RFC 5869): one field's key reveals neither another field's key nor the root key. */
function fieldKey(root: KeyObject, entity: string, field: string): KeyObject {
  const keys = derived.get(root) ?? new Map<string, KeyObject>();
  derived.set(root, keys);
  const info = lengthPrefixed(["keelson1", "blind index", entity, field]);
  const name = info.toString("latin1");
  const known = keys.get(name) ?? createSecretKey(Buffer.from(hkdfSync("sha256", root, "", info, 32)));
  keys.set(name, known);
  return known;
}

/**
 * The blind index of a value: HMAC-SHA-256 with a key derived for the field, as 43 characters of base64url. Equal
 * values of a field have equal indexes, and different values have different ones. An index cannot be guessed without
 * the key. It reveals which records have equal values, so fields with few possible values should not have one.
 *
 * Indexes survive key rotations: the field key is derived from the index key, which stays when data keys change. As
 * long as an app has had only one key, that key is the index key. With a second key, `indexKey` must be set to the
 * first.
 * @param value text, a finite number, a boolean or a date, in the form in which it is compared (trimmed, lower-cased)
 * @throws ConfigurationError without a key, or with several keys but no index key
 * @throws BadRequestError for JSON arrays and objects, which have no canonical form
 */
export function blindIndex(
  ring: KeyRing,
  place: { readonly entity: string; readonly field: string },
  value: string | number | bigint | boolean | Date,
): string {
  if (typeof value === "object" && !(value instanceof Date))
    throw new BadRequestError("JSON arrays and objects have no blind index");
  const key = fieldKey(indexKeyOf(ring), place.entity, place.field);
  return createHmac("sha256", key)
    .update(encodeValue(value === 0 ? 0 : value)) // -0 equals 0
    .digest("base64url");
}

/** Name of the blind index column of an encrypted field; undefined if the field is not searchable. */
export function blindIndexColumn(entity: AnyEntity, field: string): string | undefined {
  return Object.values(entity.columns).find(({ of }) => of === field)?.name;
}
