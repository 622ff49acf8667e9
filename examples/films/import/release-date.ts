/** A parsed release date. */
export interface ReleaseDate {
  readonly date: Date;
  /** The year in the source, if it was corrected. */
  readonly writtenYear?: number;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DATE = /^([A-Z][a-z]{2}) (\d{2}) (\d{4})$/;

/**
 * The data ends with two films announced for 2011. No row is dated 2012 to 2014, and every later one (2015 to 2046) is
 * a film of 1915 to 1946, from "The Birth of a Nation" to "Duel in the Sun": a two-digit year that was read as 20xx.
 */
const LAST_YEAR = 2011;

/** Reads `Jun 12 1998` as midnight UTC; years after the end of the data lose a century. Undefined for other texts. */
export function parseReleaseDate(text: string): ReleaseDate | undefined {
  const [, monthName = "", day = "", writtenYear = ""] = DATE.exec(text) ?? [];
  const month = MONTHS.indexOf(monthName);
  if (month < 0) return undefined;
  const isLate = Number(writtenYear) > LAST_YEAR;
  const date = new Date(Date.UTC(Number(writtenYear) - (isLate ? 100 : 0), month, Number(day)));
  if (date.getUTCDate() !== Number(day)) return undefined; // Feb 30 would become Mar 1
  return isLate ? { date, writtenYear: Number(writtenYear) } : { date };
}
