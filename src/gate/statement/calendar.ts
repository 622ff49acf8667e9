/** Parts of the calendar that datetimes and dates are grouped by. Weeks begin on Monday (ISO 8601). */
export const BUCKETS = ["year", "quarter", "month", "week", "day", "hour"] as const;
export type Bucket = (typeof BUCKETS)[number];

const formats = new Map<string, Intl.DateTimeFormat>();
/** Maximum number of cached formats: names are case-insensitive, so there are very many spellings. */
const MOST_FORMATS = 100;

const ZONE = /^[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*)*$/;

/** Formats datetimes as local times of a zone; throws a RangeError if there is no such zone. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    const digits = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", era: "short", ...digits });
    if (formats.size >= MOST_FORMATS) formats.clear();
    formats.set(zone, format);
  }
  return format;
}

/** Whether a name is a time zone. Old names are accepted, offsets are not. */
export function isZone(name: string): boolean {
  if (!ZONE.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Converts a datetime to the local time of a zone, as if that were UTC. */
function toLocal(moment: Date, zone: string): Date {
  if (zone === "UTC") return moment;
  const found: Record<string, string> = {};
  for (const { type, value } of formatOf(zone).formatToParts(moment)) found[type] = value;
  const { year, month, day, hour, minute, era } = found;
  const local = new Date(0);
  local.setUTCFullYear(era === "BC" ? 1 - Number(year) : Number(year), Number(month) - 1, Number(day));
  local.setUTCHours(Number(hour), Number(minute));
  return local;
}

/** The start of the calendar period that a datetime or a date falls into. */
export function bucketOf(value: Date | string, bucket: Bucket, zone = "UTC"): string {
  const isDate = typeof value === "string";
  const local = new Date(isDate ? Date.parse(`${value}T00:00:00Z`) : toLocal(value, zone));
  const month = local.getUTCMonth();
  if (bucket === "hour") return `${local.toISOString().slice(0, 13)}:00`;
  if (bucket === "week") local.setUTCDate(local.getUTCDate() - ((local.getUTCDay() + 6) % 7));
  if (bucket === "year") local.setUTCMonth(0, 1);
  if (bucket === "quarter") local.setUTCMonth(month - (month % 3), 1);
  if (bucket === "month") local.setUTCDate(1);
  return local.toISOString().slice(0, -14);
}
