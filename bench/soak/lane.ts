import type { Journal, Written } from "./journal.ts";
import type { SoakAnswer, SoakClient } from "./soak-client.ts";

/** What was answered so far. */
export interface Tally {
  /** By what was asked. */
  readonly kinds: Map<string, number>;
  /** By status. */
  readonly statuses: Map<number, number>;
  /** How many answers were not what they had to be. */
  wrong: number;
  serverErrors: number;
  /** The first of the wrong ones, in words. */
  readonly complaints: string[];
}

/** One caller's work, one request after the other, on records that nobody else changes. */
export interface Lane {
  readonly number: number;
  readonly token: string;
  readonly client: SoakClient;
  readonly journal: Journal;
  readonly tally: Tally;
  /** Its records. */
  readonly records: Written[];
  /** A number from 0 to below the limit; the same ones in each run with one seed. */
  random(below: number): number;
  /** Different each time. */
  next(): number;
}

const COMPLAINTS = 20;

export function createTally(): Tally {
  return { kinds: new Map(), statuses: new Map(), wrong: 0, serverErrors: 0, complaints: [] };
}

export function complain(tally: Tally, text: string): void {
  tally.wrong += 1;
  if (tally.complaints.length < COMPLAINTS) tally.complaints.push(text);
}

/** Counts an answer. @returns whether its status is one of those */
export function isExpected(
  tally: Tally,
  kind: string,
  status: number | undefined,
  statuses: readonly number[],
  text = "",
): boolean {
  tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1);
  if (status !== undefined) tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
  if (status !== undefined && status >= 500) tally.serverErrors += 1;
  if (status !== undefined && statuses.includes(status)) return true;
  complain(tally, `${kind}: ${status ?? "no answer"}, not ${statuses.join(" or ")} ${text.slice(0, 300)}`);
  return false;
}

/** The body of an answer that has the right status, when `holds` says that it is right, too. */
export function rightBody<T>(
  tally: Tally,
  kind: string,
  answer: SoakAnswer,
  status: number,
  holds: (body: T) => boolean,
): T | undefined {
  if (!isExpected(tally, kind, answer.status, [status], answer.text)) return undefined;
  const body = JSON.parse(answer.text) as T;
  if (holds(body)) return body;
  complain(tally, `${kind}: a wrong body ${answer.text.slice(0, 300)}`);
  return undefined;
}

/** Mulberry32: small, and good enough to choose what to ask next. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
