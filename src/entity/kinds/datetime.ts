import * as z from "zod";
import { type FieldKind, ORDER_OPERATORS, parsed, unreadable } from "../kind.ts";
import { toIsoText } from "./to-iso-text.ts";

const MESSAGE = "must be an ISO 8601 date (2024-05-31) or date-time with a zone (2024-05-31T12:00:00Z)";
const isoText = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const EARLIEST = Date.parse("0001-01-01T00:00:00.000Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/** Outside these years ISO 8601 needs a sign and six digits, which databases and other parsers refuse. */
function isDate(value: unknown): value is Date {
  if (!(value instanceof Date)) return false;
  const time = value.getTime();
  return time >= EARLIEST && time <= LATEST; // false for NaN
}

/** A date that exists (`2024-02-30` does not), or undefined. A date alone is midnight UTC. */
function toDate(text: string): Date | undefined {
  if (!isoText.safeParse(text).success) return undefined;
  const date = new Date(text);
  return isDate(date) ? date : undefined;
}

/** A moment, stored in UTC with millisecond precision; TIMESTAMP. ISO 8601 on the wire. Spec 2.2. */
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
  compare: (a, b) => a.getTime() - b.getTime(),
  toWire: toIsoText,
  unescaped: true,
  toCell: toIsoText,
});
