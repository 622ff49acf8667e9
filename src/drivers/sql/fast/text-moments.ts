import { plainMoment } from "../condition/column-codec.ts";

/** The text to append to a fraction, by its length; databases omit trailing zeros. */
const ZEROS = ["", "00Z", "0Z", "Z"];

/** Converts a database's or its adapter's text of a datetime to ISO 8601 in UTC with milliseconds. */
export function textMoment(value: unknown): string | null {
  if (typeof value !== "string") return plainMoment(value)?.toISOString() ?? null;
  const end = value.startsWith("00") ? -1 : endOfMoment(value);
  if (end === FRACTION - 1) return `${value.slice(0, 10)}T${value.slice(11, end)}.000Z`;
  if (end > FRACTION && end <= FRACTION + 3)
    return `${value.slice(0, 10)}T${value.slice(11, end)}${ZEROS[end - FRACTION]}`;
  return plainMoment(value)?.toISOString() ?? null;
}

/** Codes of " ", "T" and ".". */
const SPACE = 32;
const T = 84;
const POINT = 46;
const UTC = "+00:00";
/** The index of the fraction of a second, after its point. */
export const FRACTION = 20;

/**
 * The index at which a datetime in UTC ends, before its zone: `2024-05-31T12:00:00.5+00:00`, as adapters write it, or
 * `2024-05-31 12:00:00.5`, as PostgreSQL does. -1 for all other texts.
 */
export function endOfMoment(text: string): number {
  const separator = text.charCodeAt(10);
  const end = separator === SPACE ? text.length : separator === T && text.endsWith(UTC) ? text.length - UTC.length : -1;
  return end === FRACTION - 1 || (end <= FRACTION + 3 && text.charCodeAt(FRACTION - 1) === POINT) ? end : -1;
}
