/** Edit distance with transpositions; stops counting beyond `limit`, so that long inputs stay cheap. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] as number) + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length] as number;
}

/** The candidate closest to a mistyped name; undefined when none is close enough. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > 64) return undefined;
  const limit = Math.max(1, Math.floor(name.length / 3));
  let found: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const steps = distance(name.toLowerCase(), candidate.toLowerCase(), limit);
    if (steps < least) {
      least = steps;
      found = candidate;
    }
  }
  return found;
}

/** Returns ` Did you mean "x"?` with a leading space, or an empty string. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : ` Did you mean "${found}"?`;
}

/** Returns one message per unknown key of an options object. */
export function unknownKeys(given: object, known: readonly string[]): string[] {
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => `there is no option "${key}".${didYouMean(key, known)}`);
}
