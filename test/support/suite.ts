/**
 * How much the tests try. `npm test` makes every claim of the suite with fewer examples, rows and waits; `npm run
 * test:long` sets SUITE=long, and takes all of them. This is the one place that reads it.
 */
const isLong = process.env.SUITE === "long";

/** A number that the long suite has more of, or what takes it longer. */
export function amount<T>(usual: T, long: T): T {
  return isLong ? long : usual;
}

/** The cases of a long list: so many of them, the same in every run and spread over the list; all in the long suite. */
export function someOf<T>(cases: readonly T[], usual: number): readonly T[] {
  if (isLong || cases.length <= usual) return cases;
  // Steps of the golden ratio fall into no rhythm with a list that was made by nested loops.
  const chosen = new Set<number>();
  for (let step = 0; chosen.size < usual; step++)
    chosen.add(Math.floor(((step * 0.618_033_988_749_895) % 1) * cases.length));
  return cases.filter((_, index) => chosen.has(index));
}

/** One of several, chosen by a number that goes on from place to place; in the long suite, all of them in each place. */
export function oneOf<T>(turn: number, all: readonly T[]): readonly T[] {
  return isLong || all.length === 0 ? all : [all[turn % all.length] as T];
}
