import type { Parameters } from "fast-check";
import { amount } from "./suite.ts";

/**
 * Options of a property: PROPERTY_SEED repeats a failure that fast-check printed, PROPERTY_RUNS looks harder.
 * @param runs How many examples the long suite tries; the usual one tries a tenth of them, and no fewer than three.
 */
export function propertyOptions<T>(runs: number): Parameters<T> {
  const { PROPERTY_SEED, PROPERTY_RUNS } = process.env;
  return {
    numRuns: PROPERTY_RUNS === undefined ? amount(Math.max(3, Math.ceil(runs / 10)), runs) : Number(PROPERTY_RUNS),
    ...(PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }),
  };
}
