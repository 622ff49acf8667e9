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

/** The days last written, each at its number modulo the size: `2024-05-31T`. */
const dayNumbers = new Float64Array(512).fill(Number.NaN);
const dayTexts: string[] = new Array(dayNumbers.length).fill("");

/**
 * `toISOString` of a valid date; of a text that is the result already, that. Put together from tables, because a list spends most of the time of its serialization
 * on the two timestamps that every record has.
 */
export function toIsoText(date: Date | string): string {
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
