/**
 * How much the tests try. `npm test` checks every rule with fewer examples, rows and waits; `npm run test:long` sets
 * SUITE=long, which tries all of them. Only this file reads the variable.
 */
const isLong = process.env.SUITE === "long";

/** A number that is larger in the long suite. */
export function amount<T>(usual: T, long: T): T {
  return isLong ? long : usual;
}

/** This many cases of a long list: the same in every run and spread over the list; all of them in the long suite. */
export function someOf<T>(cases: readonly T[], usual: number): readonly T[] {
  if (isLong || cases.length <= usual) return cases;
  // Golden-ratio steps do not align with the period of a list that nested loops made.
  const chosen = new Set<number>();
  for (let step = 0; chosen.size < usual; step++)
    chosen.add(Math.floor(((step * 0.618_033_988_749_895) % 1) * cases.length));
  return cases.filter((_, index) => chosen.has(index));
}

/** One of several, selected by a number that increases from place to place; the long suite uses all of them everywhere. */
export function oneOf<T>(turn: number, all: readonly T[]): readonly T[] {
  return isLong || all.length === 0 ? all : [all[turn % all.length] as T];
}
