import { ConfigurationError } from "./base/keelson-error.ts";
import { field } from "./field.ts";
import type { EnumField, ExactField, Field, NumberField, ScalarField, StringField } from "./field-modifiers.ts";
import {
  bigintKind,
  boolKind,
  bytesKind,
  dateKind,
  datetimeKind,
  decimalKind,
  emailKind,
  enumKind,
  floatKind,
  intKind,
  jsonKind,
  MOST_DIGITS,
  openDecimalKind,
  stringKind,
  textKind,
  timeKind,
  uuidKind,
} from "./kinds/index.ts";
import type { FieldKind } from "./kinds/kind.ts";

/** Short text, at most 255 characters. VARCHAR(255). */
export const string: StringField = field(stringKind as FieldKind);
/** Long text, at most 1 MiB. TEXT. */
export const text: StringField = field(textKind as FieldKind);
/** An e-mail address, at most 255 characters. VARCHAR(255). */
export const email: StringField = field(emailKind as FieldKind);
/** A 32-bit integer. INTEGER. */
export const int: NumberField = field(intKind as FieldKind);
/** A double-precision number. DOUBLE. */
export const float: NumberField = field(floatKind as FieldKind);
/** A 64-bit integer; a `bigint` in code, text in JSON. BIGINT. */
export const bigint: ExactField<bigint, bigint | number> = field(bigintKind as FieldKind);

/**
 * An exact decimal number: text in code and in JSON, with all decimal places ("19.90"). DECIMAL.
 * @param precision total number of digits, 1 to 65 @default unlimited, up to 500 digits, without trailing zeros
 * @param scale number of decimal places @default 0
 * @throws ConfigurationError for a precision or scale outside these bounds
 */
export function decimal(precision?: number, scale = 0): ExactField<string, string | number> {
  if (precision === undefined) return field(openDecimalKind as FieldKind);
  const isCount = Number.isInteger(precision) && Number.isInteger(scale);
  if (!isCount || precision < 1 || precision > MOST_DIGITS || scale < 0 || scale > precision)
    throw new ConfigurationError(
      `decimal(${precision}, ${scale}): the precision is between 1 and ${MOST_DIGITS}, and the scale between 0 and the precision`,
    );
  return field(decimalKind(precision, scale) as FieldKind);
}

/** true or false. BOOLEAN. */
export const bool: ScalarField<boolean> = field(boolKind as FieldKind);
/** Alias of {@link bool}. */
export const boolean: ScalarField<boolean> = bool;
/** A datetime; a `Date` in code, ISO 8601 in UTC in JSON. TIMESTAMP. */
export const datetime: ScalarField<Date> = field(datetimeKind as FieldKind);
/** A calendar date: "2024-05-31", also in code. DATE. */
export const date: ScalarField<string> = field(dateKind as FieldKind);
/** A time of day with milliseconds: "09:30:00", also in code. TIME(3). */
export const time: ScalarField<string> = field(timeKind as FieldKind);
/** A UUID in lower case. UUID. */
export const uuid: ScalarField<string> = field(uuidKind as FieldKind);
/** Bytes; a `Uint8Array` in code, base64 in JSON. BYTEA or BLOB. */
export const bytes: ScalarField<Uint8Array> = field(bytesKind as FieldKind);
/** Any JSON value. JSON or JSONB. */
export const json: Field<unknown> = field(jsonKind);

/** A JSON value with a compile-time type; add `.validate()` to check it at run time. */
export function jsonTyped<T>(): Field<T> {
  return field(jsonKind);
}

/** One of a fixed list of values, typed as their union. VARCHAR(255), or with `.native()` an enum of the database. */
export function enums<const T extends readonly [string, ...string[]]>(...values: T): EnumField<T[number]> {
  return field(enumKind(values) as FieldKind);
}
