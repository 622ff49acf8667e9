import type { SentInput } from "./fuzz-input.ts";
import { changesBetween, type StoredRows } from "./stored-rows.ts";
import type { StrictResponse } from "./strict-responses.ts";

const TABLES: Readonly<Record<string, string>> = { posts: "post", notes: "note", users: "user", tags: "tag" };
/** The table of idempotency keys. */
const KEPT_KEYS = /^idempotency/i;
/** Links between records have no id; the row names both records. */
const LINKS = /^_/;

/** Describes unauthorised changes. */
export function wrongChanges(
  input: SentInput,
  responses: readonly StrictResponse[],
  before: StoredRows,
  after: StoredRows,
): string[] {
  const changed = changesBetween(before, after);
  const granted = responses.filter(isGranted);
  // A request followed by garbage is still carried out; of the hosts, only node's own also answers it.
  const isAnswerLost = !input.isWhole && input.host !== "node";
  if (granted.length === 0 && !isAnswerLost)
    return changed.map((place) => `${place} changed though nothing was granted`);
  const sent = input.bytes.toString("latin1");
  const kept = changed.filter((place) => KEPT_KEYS.test(place));
  const links = changed.filter((place) => LINKS.test(place));
  const records = changed.filter((place) => !KEPT_KEYS.test(place) && !LINKS.test(place));
  return [
    ...(kept.length > 0 && !/idempotency-key/i.test(sent) ? ["a key is kept that nobody sent"] : []),
    ...records
      .filter((place) => !mayChange(input, place, before, after))
      .map((place) => `${place} is not the caller's`),
    ...unaddressed(input, granted, records, after),
    ...links
      .filter((place) => !records.some((record) => place.includes(idOf(record))))
      .map((place) => `${place} changed alone`),
  ];
}

/** An import that reaches unreadable input reports what it has stored so far. */
function isGranted({ status, body }: StrictResponse): boolean {
  return status < 300 || countIn(parse(body)) > 0;
}

const idOf = (place: string): string => place.slice(place.indexOf(" ") + 1);

/** Ownership, before and after. */
function mayChange({ caller }: SentInput, place: string, before: StoredRows, after: StoredRows): boolean {
  if (caller === "root")
    return !place.startsWith("note ") || [before, after].every((rows) => owns("root", place, rows.get(place)));
  return caller !== "anonymous" && [before, after].every((rows) => owns(caller, place, rows.get(place)));
}

function owns(caller: string, place: string, row: string | undefined): boolean {
  if (row === undefined) return true;
  if (place.startsWith("user ")) return place === `user ${caller}`;
  const [, owner] = /"authorId":["']([^"']*)["']/.exec(row) ?? [];
  return owner === caller;
}

/** Permitted changes were made, and only to the requested records. */
function unaddressed(
  { bytes, isWhole, host }: SentInput,
  granted: readonly StrictResponse[],
  records: readonly string[],
  after: StoredRows,
): string[] {
  const bodies = granted.map(({ body }) => parse(body));
  const created = granted.flatMap(({ status }, index) => (status === 201 ? [String(bodies[index]?.id)] : []));
  const stored = new Set([...after.keys()].map(idOf));
  const lost = created.filter((id) => !stored.has(id)).map((id) => `${id} was created and is not there`);
  if (!isWhole) {
    const most = bodies.reduce((sum, body) => sum + Math.max(1, countIn(body)), host === "node" ? 0 : 1);
    return records.length > most ? [...lost, `${records.length} records changed where ${most} were granted`] : lost;
  }
  const [, method = "", plural = "", id = ""] =
    /^([A-Z]+) (?:[a-z]+:\/\/[^/]*)?\/api\/([^/?# ]*)\/?([^/?# ]*)/i.exec(bytes.toString("latin1")) ?? [];
  if (["GET", "HEAD", "OPTIONS"].includes(method)) return records.map((place) => `${place} changed by ${method}`);
  const table = TABLES[decodeURIComponent(plural)];
  if (id.startsWith("bulk")) {
    const asked = idsIn(bytes);
    return records.filter((place) => !asked.has(idOf(place))).map((place) => `${place} was not among those asked for`);
  }
  if (id === "import")
    return records.length > countIn(bodies[0]) ? [`${records.length} changed by an import of fewer`] : [];
  const addressed = new Set([...created, decodeURIComponent(id)].map((one) => `${table} ${one}`));
  return [...lost, ...records.filter((place) => !addressed.has(place)).map((place) => `${place} was not addressed`)];
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The number of changed records, according to the response. */
function countIn(body: Record<string, unknown> | undefined): number {
  const details = (body?.details ?? {}) as Record<string, unknown>;
  const counts = [body?.count, body?.created, body?.updated, details.created, details.updated];
  return counts.reduce<number>((sum, count) => sum + (typeof count === "number" ? count : 0), 0);
}

function idsIn(bytes: Buffer): ReadonlySet<string> {
  const body = parse(bytes.subarray(bytes.indexOf("\r\n\r\n") + 4));
  return new Set(Array.isArray(body?.ids) ? body.ids.map(String) : []);
}
