/** Random choices that are the same for the same seed. */
export interface Random {
  /** A whole number below `n`. */
  below(n: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Each of them with this probability. */
  some<T>(from: readonly T[], probability: number): T[];
}

/** mulberry32: small, fast, and good enough to choose examples. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  const pick = <T>(from: readonly T[]): T => {
    if (from.length === 0) throw new TypeError("nothing to pick from");
    return from[below(from.length)] as T;
  };
  return {
    below,
    chance: (probability) => next() < probability,
    pick,
    some: (from, probability) => from.filter(() => next() < probability),
  };
}
