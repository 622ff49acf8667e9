/** The names of rules that must all pass, in order. */
type Conditions = readonly string[];

/**
 * The conditions for a permission: one of the lists must pass. No list means never; an empty list means always.
 * Conditions are rules that only a request can decide.
 */
export type Grant = readonly Conditions[];

export const NEVER: Grant = Object.freeze([]);
export const ALWAYS: Grant = Object.freeze([Object.freeze([])]);

/** Allowed when one rule passes. */
export function when(rule: string): Grant {
  return [[rule]];
}

function isWithin(small: Conditions, large: Conditions): boolean {
  return small.every((name) => large.includes(name));
}

/** Removes lists that another list covers, and sorts the rest, so that equal grants have the same form. */
function simplified(lists: readonly Conditions[]): Grant {
  const sorted = lists.map((list) => [...new Set(list)].sort());
  const shortest = sorted.sort((a, b) => a.length - b.length || (a.join() < b.join() ? -1 : 1));
  return shortest.filter((list, index) => !shortest.slice(0, index).some((other) => isWithin(other, list)));
}

/** Allowed when any of the grants allows it. */
export function anyOf(grants: readonly Grant[]): Grant {
  return simplified(grants.flat());
}

/** Allowed when all of the grants allow it. */
export function allOf(grants: readonly Grant[]): Grant {
  return grants.reduce((left, right) => simplified(left.flatMap((a) => right.map((b) => [...a, ...b]))), ALWAYS);
}

/** Whether another grant allows everything that a grant allows. */
export function isCovered(grant: Grant, by: Grant): boolean {
  return grant.every((list) => by.some((other) => isWithin(other, list)));
}

/** Formats a grant. */
export function grantText(grant: Grant): string {
  if (grant.length === 0) return "no";
  if (grant.some((list) => list.length === 0)) return "yes";
  return `if ${grant.map((list) => list.join(" and ")).join(" or ")}`;
}

/**
 * The caller: anonymous, a logged-in user, the owner of the record, or an administrator. Custom rules derive all other
 * roles from these.
 */
export const ROLES = ["anonymous", "user", "owner", "admin"] as const;
export type Role = (typeof ROLES)[number];
