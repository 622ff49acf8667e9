/** The effect of byte limits on responses (reference/limits.md): pages that end early, and refusals. */
import type { Call, Model, Step } from "../model.ts";
import type { ListQuery } from "../query.ts";
import { INVALID, type Outcome } from "./outcome.ts";

const includesSome = (call: Call): boolean => {
  const include = "query" in call ? call.query.include : "include" in call ? call.include : undefined;
  return include !== undefined && Object.keys(include).length > 0;
};

/** Whether the records of a page are sorted by fields that they do not show: those are read too, and count. */
const sortsByMore = ({ sort = [], select }: ListQuery): boolean =>
  select !== undefined && sort.some((key) => !select.includes(key.replace(/^-/, "")));

/** A lower bound: the bytes of the long texts in a response. */
const longBytes = (body: unknown): number => {
  if (typeof body === "string") return body.length > 30 ? body.length : 0;
  if (typeof body !== "object" || body === null) return 0;
  return Object.values(body).reduce((sum: number, one) => sum + longBytes(one), 0);
};

/** An upper bound: everything, plus each name again. Hidden values must not count. */
const mostBytes = (body: unknown): number => JSON.stringify(body ?? null).length * 2;

/** Whether a page respects the limit: the first record is always returned, at any size. */
const fits = (page: readonly unknown[], most: number): boolean => page.length < 2 || longBytes(page) <= most;

/**
 * The permitted ends of a step whose response is limited in bytes. The number of records is open between what certainly
 * fits and what certainly does not.
 */
export function withinBytes({ pageBytes }: Model, { call }: Step, outcomes: readonly Outcome[]): Outcome[] {
  if (pageBytes === undefined) return [...outcomes];
  return outcomes.flatMap((outcome) => {
    if (outcome.status >= 300) return [outcome];
    const mayRefuse = mostBytes(outcome.body) > pageBytes / 2 || (call.do === "list" && sortsByMore(call.query));
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
