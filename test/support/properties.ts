import type { Parameters } from "fast-check";
import { amount } from "./suite.ts";

/**
 * Options of a property: PROPERTY_SEED repeats a failure that fast-check printed, PROPERTY_RUNS runs more examples.
 * @param runs Number of examples in the long suite; the usual suite runs a tenth of them, and at least three.
 */
export function propertyOptions<T>(runs: number): Parameters<T> {
  const { PROPERTY_SEED, PROPERTY_RUNS } = process.env;
  return {
    numRuns: PROPERTY_RUNS === undefined ? amount(Math.max(3, Math.ceil(runs / 10)), runs) : Number(PROPERTY_RUNS),
    ...(PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }),
  };
}
