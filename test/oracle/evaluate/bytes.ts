/** What limits in bytes leave of answers (reference/limits.md): pages that stop early, and refusals. */
import type { Call, Model, Step } from "../model.ts";
import { INVALID, type Outcome } from "./outcome.ts";

const includesSome = (call: Call): boolean => {
  const include = "query" in call ? call.query.include : "include" in call ? call.include : undefined;
  return include !== undefined && Object.keys(include).length > 0;
};

/** Bytes of the long texts in an answer: these count at least. */
const longBytes = (body: unknown): number => {
  if (typeof body === "string") return body.length > 30 ? body.length : 0;
  if (typeof body !== "object" || body === null) return 0;
  return Object.values(body).reduce((sum: number, one) => sum + longBytes(one), 0);
};

/** Everything counts at most, and once more for each name: what is not shown may not count. */
const mostBytes = (body: unknown): number => JSON.stringify(body ?? null).length * 2;

/** Whether a page has no more than it may: the first record comes whatever its size. */
const fits = (page: readonly unknown[], most: number): boolean => page.length < 2 || longBytes(page) <= most;

/**
 * The ways in which a step may end where answers are limited in bytes. How many records fit is left open, between what surely
 * fits and what surely does not.
 */
export function withinBytes({ pageBytes }: Model, { call }: Step, outcomes: readonly Outcome[]): Outcome[] {
  if (pageBytes === undefined) return [...outcomes];
  return outcomes.flatMap((outcome) => {
    if (outcome.status >= 300) return [outcome];
    const mayRefuse = mostBytes(outcome.body) > pageBytes / 2;
    if (call.do === "list" && Array.isArray(outcome.body)) {
      const all: readonly unknown[] = outcome.body;
      const isNumbered = call.query.page !== undefined;
      const whole = fits(all, pageBytes) ? [outcome] : [];
      if (!mayRefuse) return whole;
      const some = isNumbered ? [] : all.slice(1).map((_, at) => ({ ...outcome, body: all.slice(0, at + 1) }));
      const pages = some.filter(({ body }) => fits(body, pageBytes));
      return [...whole, ...pages, ...(isNumbered || includesSome(call) ? [INVALID] : [])];
    }
    return mayRefuse && includesSome(call) ? [outcome, INVALID] : [outcome];
  });
}
