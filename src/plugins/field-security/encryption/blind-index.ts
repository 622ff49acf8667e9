import { createHmac, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import type { AnyEntity } from "../../../entity/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { indexKeyOf, type KeyRing } from "./key-ring.ts";
import { encodeValue, lengthPrefixed } from "./value-codec.ts";

/** Keys of fields by the key they are derived from; they go when that goes. */
const derived = new WeakMap<KeyObject, Map<string, KeyObject>>();

/** HKDF-SHA-256 (RFC 5869): what is known of one field's key says nothing of another's, nor of the key itself. */
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
 * The blind index of a value: HMAC-SHA-256 with a key of the field's own, as 43 characters of base64url. Equal
 * values of a field, and only they, have the same one; without the key it cannot be guessed at. It shows which records
 * are equal, so fields with few values should not have one.
 *
 * It outlives rotations: the key is derived from the index key, which stays when data keys change. While there has been
 * one key only, that one serves as index key; with the second one, `indexKey` has to be set to the first.
 * @param value text, a finite number, a boolean or a date, in the form in which it is compared (trimmed, lower-cased)
 * @throws ConfigurationError without a key, or when there are several and none is the index key
 * @throws BadRequestError for JSON arrays and objects, which have no one spelling
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

/** Name of the column that finds the values of an encrypted field; undefined where it is not searchable. */
export function blindIndexColumn(entity: AnyEntity, field: string): string | undefined {
  return Object.values(entity.columns).find(({ of }) => of === field)?.name;
}
