import * as z from "zod";
import { type FieldKind, parsed, unreadable } from "./kind.ts";
import { ORDER_OPERATORS } from "./operators.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;

function padded(size: number, digits: number, after: string): readonly string[] {
  return Array.from({ length: size }, (_, value) => String(value).padStart(digits, "0") + after);
}

const SECONDS = padded(60, 2, ".");
const MILLISECONDS = padded(1_000, 3, "Z");
const MINUTES: readonly string[] = Array.from(
  { length: 1_440 },
  (_, minute) => `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}:`,
);

/** A cache of recently written days, indexed by day number modulo the size: `2024-05-31T`. */
const dayNumbers = new Float64Array(512).fill(Number.NaN);
const dayTexts: string[] = new Array(dayNumbers.length).fill("");

/**
 * `toISOString` of a valid date; texts are returned unchanged. Uses tables, because most of the time for serializing a
 * list is spent on the two timestamps of every record.
 */
function toIsoText(date: Date | string): string {
  if (typeof date === "string") return date;
  const time = date.getTime();
  const day = Math.floor(time / DAY);
  const slot = day & (dayNumbers.length - 1);
  if (dayNumbers[slot] !== day) {
    const text = date.toISOString();
    dayTexts[slot] = text.slice(0, text.indexOf("T") + 1);
    dayNumbers[slot] = day;
  }
  const ofDay = time - day * DAY;
  const minute = Math.floor(ofDay / MINUTE);
  const ofMinute = ofDay - minute * MINUTE;
  const second = Math.floor(ofMinute / 1_000);
  const text = (dayTexts[slot] as string) + MINUTES[minute];
  return text + SECONDS[second] + MILLISECONDS[ofMinute - second * 1_000];
}

const MESSAGE = "must be an ISO 8601 date (2024-05-31) or date-time with a zone (2024-05-31T12:00:00Z)";
const isoText = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const EARLIEST = Date.parse("0001-01-01T00:00:00.000Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/** Outside these years, ISO 8601 requires a sign and six digits, which databases and other parsers refuse. */
function isDate(value: unknown): value is Date {
  if (!(value instanceof Date)) return false;
  const time = value.getTime();
  return time >= EARLIEST && time <= LATEST; // false for NaN
}

/** Parses a valid date (`2024-02-30` is not); undefined otherwise. A date without a time is midnight UTC. */
function toDate(text: string): Date | undefined {
  if (!isoText.safeParse(text).success) return undefined;
  const date = new Date(text);
  return isDate(date) ? date : undefined;
}

/** A datetime, stored in UTC with milliseconds; TIMESTAMP. ISO 8601 in JSON. Spec 2.2. */
export const datetimeKind: FieldKind<Date> = Object.freeze<FieldKind<Date>>({
  name: "datetime",
  column: { scalar: "DateTime" },
  operators: ORDER_OPERATORS,
  sortable: true,
  searchable: false,
  parse(text) {
    const date = toDate(text);
    return date === undefined ? unreadable(MESSAGE) : parsed(date);
  },
  accepts: isDate,
  schema: () =>
    z
      .unknown()
      .transform((value, ctx) => {
        const date = isDate(value) ? value : typeof value === "string" ? toDate(value) : undefined;
        if (date !== undefined) return date;
        ctx.issues.push({ code: "custom", message: MESSAGE, input: value });
        return z.NEVER;
      })
      .meta({ type: "string", format: "date-time" }),
  // Databases may store microseconds.
  next: (date) => (date.getTime() < LATEST ? new Date(date.getTime() + 1) : undefined),
  bounds: Object.freeze([new Date(EARLIEST), new Date(LATEST)] as const),
  compare: (a, b) => a.getTime() - b.getTime(),
  toWire: toIsoText,
  unescaped: true,
  toCell: toIsoText,
});
