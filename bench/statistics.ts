import type { Sample } from "./measure.ts";
import type { WorkloadId } from "./workloads.ts";

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** A ratio or a difference over the rounds. */
export interface Ratio {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The number in a sample that a table is about. */
export type Figure = (sample: Sample) => number | undefined;

function valuesByRound(
  samples: readonly Sample[],
  contender: string,
  workload: WorkloadId,
  figure: Figure,
): Map<number, number> {
  const values = new Map<number, number>();
  for (const sample of samples) {
    const value = sample.contender === contender && sample.workload === workload ? figure(sample) : undefined;
    if (value !== undefined) values.set(sample.round, value);
  }
  return values;
}

/** Median of a figure over the rounds, or `undefined` if it was not measured. */
export function medianOf(
  samples: readonly Sample[],
  contender: string,
  workload: WorkloadId,
  figure: Figure,
): number | undefined {
  const values = [...valuesByRound(samples, contender, workload, figure).values()];
  return values.length === 0 ? undefined : median(values);
}

function comparedOf(
  samples: readonly Sample[],
  contender: string,
  reference: string,
  workload: WorkloadId,
  figure: Figure,
  compare: (value: number, other: number) => number,
): Ratio | undefined {
  const others = valuesByRound(samples, reference, workload, figure);
  const compared: number[] = [];
  for (const [round, value] of valuesByRound(samples, contender, workload, figure)) {
    const other = others.get(round);
    if (other !== undefined) compared.push(compare(value, other));
  }
  return compared.length === 0
    ? undefined
    : { median: median(compared), min: Math.min(...compared), max: Math.max(...compared) };
}

/**
 * How a contender compares with another. Each round gives one ratio of two samples taken close together; the median of
 * these is steadier than a ratio of medians that may come from different rounds.
 */
export function ratioOf(
  samples: readonly Sample[],
  contender: string,
  reference: string,
  workload: WorkloadId,
  figure: Figure,
): Ratio | undefined {
  return comparedOf(samples, contender, reference, workload, figure, (value, other) => value / other);
}

/** By how much a contender's figure is above another's, round by round as in `ratioOf`. */
export function differenceOf(
  samples: readonly Sample[],
  contender: string,
  reference: string,
  workload: WorkloadId,
  figure: Figure,
): Ratio | undefined {
  return comparedOf(samples, contender, reference, workload, figure, (value, other) => value - other);
}
