import { plainMoment } from "../statement/row-decoder.ts";
import { endOfMoment, FRACTION } from "./moment-form.ts";

/** What is missing behind a fraction, by where it ends; databases leave out zeros at the end. */
const ZEROS = ["", "00Z", "0Z", "Z"];

/** The ISO 8601 text in UTC, with milliseconds, of what a database or its adapter makes of a moment. */
export function textMoment(value: unknown): string {
  if (typeof value !== "string") return plainMoment(value).toISOString();
  const end = endOfMoment(value);
  if (end === FRACTION - 1) return `${value.slice(0, 10)}T${value.slice(11, end)}.000Z`;
  if (end > FRACTION && end <= FRACTION + 3)
    return `${value.slice(0, 10)}T${value.slice(11, end)}${ZEROS[end - FRACTION]}`;
  return plainMoment(value).toISOString();
}
