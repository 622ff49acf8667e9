import { plainMoment } from "../condition/column-codec.ts";
import { endOfMoment, FRACTION } from "./text-moments.ts";

/** The code of "0". */
const ZERO = 48;
/** `Date.UTC` adds 1900 to earlier years. */
const FIRST_PLAIN_YEAR = 100;

/** Reads two digits of a text as a number; NaN or out of range for other characters. */
function pair(text: string, index: number): number {
  return (text.charCodeAt(index) - ZERO) * 10 + text.charCodeAt(index + 1) - ZERO;
}

/**
 * The milliseconds of a text whose seconds end at 19; databases omit trailing zeros. @param end the end of the fraction
 */
function fraction(text: string, end: number): number {
  switch (end) {
    case FRACTION - 1:
      return 0;
    case FRACTION + 1:
      return (text.charCodeAt(FRACTION) - ZERO) * 100;
    case FRACTION + 2:
      return pair(text, FRACTION) * 10;
    case FRACTION + 3:
      return pair(text, FRACTION) * 10 + text.charCodeAt(FRACTION + 2) - ZERO;
    default:
      return Number.NaN;
  }
}

/** Parses a datetime from the text of a database or its adapter. */
export function momentsByDigits(value: unknown): Date | null {
  if (typeof value !== "string") return plainMoment(value);
  const end = endOfMoment(value);
  const year = pair(value, 0) * 100 + pair(value, 2);
  if (end === -1 || !(year >= FIRST_PLAIN_YEAR)) return plainMoment(value);
  const seconds = (pair(value, 11) * 60 + pair(value, 14)) * 60 + pair(value, 17);
  const time = Date.UTC(year, pair(value, 5) - 1, pair(value, 8)) + seconds * 1_000 + fraction(value, end);
  return Number.isNaN(time) ? plainMoment(value) : new Date(time);
}
