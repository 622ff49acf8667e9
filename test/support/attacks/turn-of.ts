import { amount, oneOf } from "../suite.ts";

/** Whether to try all combinations, which takes some minutes. */
export const isThorough = process.env.ATTACKS === "all";

/** The usual suite tries one of this many. */
const SHARE = amount(16, 2);

/**
 * Takes one of several, in turn: every way and every place is tried, but not every way at every place. ATTACKS=all tries
 * all combinations.
 */
export function turnOf<T>(index: number, all: readonly T[]): readonly T[] {
  return isThorough || all.length === 0 ? all : [all[index % all.length] as T];
}

/** The same; the long suite also tries all combinations. */
export function usuallyOne<T>(index: number, all: readonly T[]): readonly T[] {
  return isThorough ? all : oneOf(index, all);
}

/** Takes a part of a list, with indexes: a different part in each call. ATTACKS=all takes the whole list. */
export function inTurn<T>(all: readonly T[], turn: number): readonly (readonly [index: number, one: T])[] {
  return [...all.entries()].filter(([index]) => isThorough || index % SHARE === turn % SHARE);
}
