import type { LoadResult } from "./load-process.ts";

/** What was seen of one stretch of load. */
export interface Sent {
  /** Milliseconds of each answer. */
  readonly durations: readonly number[];
  /** Requests that were sent: the answered ones and those still under way when the time was up. */
  readonly sent: number;
  /** Answers outside 2xx, broken connections and time-outs. */
  readonly failed: number;
  /** Until the last answer. */
  readonly seconds: number;
}

const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** What was seen, in figures. */
export function loadResult({ durations, sent, failed, seconds }: Sent): LoadResult {
  const sorted = Float64Array.from(durations).sort();
  return {
    requests: sorted.length,
    sent,
    failed,
    seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
}
