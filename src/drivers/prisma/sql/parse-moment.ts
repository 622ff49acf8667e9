/** The code of "0". */
const ZERO = 48;
/** Before this year `Date.UTC` takes years for those of the last century. */
const FIRST_PLAIN_YEAR = 100;
const UTC = "+00:00";
/** Where the fraction of a second begins, behind its point. */
const FRACTION = 20;

/** Two digits of a text as a number; something else is no number from 0 to 99. */
function pair(text: string, index: number): number {
  return (text.charCodeAt(index) - ZERO) * 10 + text.charCodeAt(index + 1) - ZERO;
}

/** The milliseconds of a text that ends with them and `+00:00`; databases leave out zeros at the end. */
function fraction(text: string): number {
  switch (text.length - UTC.length) {
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

/**
 * A moment from the text that adapters make of it, such as `2024-05-31T12:00:00.5+00:00`. In that form it takes half the
 * time of `new Date`, which reads all others.
 */
export function parseMoment(value: unknown): Date {
  if (typeof value === "string" && value.charCodeAt(10) === 84 && value.charCodeAt(value.length - 6) === 43) {
    const year = pair(value, 0) * 100 + pair(value, 2);
    const isUtc = pair(value, value.length - 5) === 0 && pair(value, value.length - 2) === 0;
    if (year >= FIRST_PLAIN_YEAR && isUtc) {
      const [month, day] = [pair(value, 5), pair(value, 8)];
      const seconds = (pair(value, 11) * 60 + pair(value, 14)) * 60 + pair(value, 17);
      const time = Date.UTC(year, month - 1, day) + seconds * 1_000 + fraction(value);
      if (!Number.isNaN(time)) return new Date(time);
    }
  }
  return new Date(value as string);
}
