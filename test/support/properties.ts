import type { Parameters } from "fast-check";

/**
 * Options of a property: PROPERTY_SEED repeats a failure that fast-check printed, PROPERTY_RUNS looks harder.
 * @param runs How many examples to try when nobody says otherwise.
 */
export function propertyOptions<T>(runs: number): Parameters<T> {
  const { PROPERTY_SEED, PROPERTY_RUNS } = process.env;
  return {
    numRuns: PROPERTY_RUNS === undefined ? runs : Number(PROPERTY_RUNS),
    ...(PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }),
  };
}
