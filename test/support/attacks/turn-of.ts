import { amount, oneOf } from "../suite.ts";

/** Whether everything is tried; it takes some minutes. */
export const isThorough = process.env.ATTACKS === "all";

/** One of so many is tried where several are. */
const SHARE = amount(6, 2);

/**
 * One of several, in turn: every way and every place is tried, not every way at every place. With ATTACKS=all it is all
 * of them, always.
 */
export function turnOf<T>(index: number, all: readonly T[]): readonly T[] {
  return isThorough || all.length === 0 ? all : [all[index % all.length] as T];
}

/** The same, and all of them in the long suite, too. */
export function usuallyOne<T>(index: number, all: readonly T[]): readonly T[] {
  return isThorough ? all : oneOf(index, all);
}

/** Some of several, with their places: this time those, next time others. With ATTACKS=all it is all of them. */
export function inTurn<T>(all: readonly T[], turn: number): readonly (readonly [index: number, one: T])[] {
  return [...all.entries()].filter(([index]) => isThorough || index % SHARE === turn % SHARE);
}
