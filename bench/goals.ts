import type { Results } from "./results.ts";
import { type Figure, type Ratio, ratioOf } from "./statistics.ts";
import { type WorkloadId, workloadIds } from "./workloads.ts";

/** The contender that most goals are about: what is recommended for PostgreSQL. */
export const goalContender = "keelson-node";

/** Who takes part in the pass with one connection. */
export const oneConnectionContenders: readonly string[] = [goalContender, "node-pg"];

/** At most so much, measured in one run. */
export interface Goal {
  /** Whose figure, of which workload. */
  readonly what: string;
  /** The contender that a ratio is taken against; "MB" for memory. */
  readonly reference: string;
  readonly goal: number;
  /** `undefined` when the run did not measure it. */
  readonly measure: (results: Results) => Ratio | undefined;
}

type ByWorkload = { readonly [W in WorkloadId]?: number };

const each = (goal: number): ByWorkload => Object.fromEntries(workloadIds.map((workload) => [workload, goal]));

function times(
  what: string,
  [contender, reference]: readonly [contender: string, reference: string],
  goals: ByWorkload,
  figure: Figure,
  from: "samples" | "oneConnection" = "samples",
): Goal[] {
  return workloadIds.flatMap((workload) => {
    const goal = goals[workload];
    if (goal === undefined) return [];
    const measure = (results: Results) => ratioOf(results[from], contender, reference, workload, figure);
    return [{ what: `${workload}: ${what} of ${contender}`, reference, goal, measure }];
  });
}

/** Megabytes of the contender, with the smallest and the largest. */
function memory(what: string, goal: number, figures: (results: Results) => readonly number[]): Goal {
  const measure = (results: Results): Ratio | undefined => {
    const seen = figures(results);
    const [min, max] = [Math.min(...seen), Math.max(...seen)];
    return seen.length === 0 ? undefined : { median: max, min, max };
  };
  return { what: `${what} of ${goalContender}`, reference: "MB", goal, measure };
}

const cpu: Figure = (sample) => sample.cpuUs;
// Short runs can be shorter than a tick of the clock that counts it.
const postgresCpu: Figure = (sample) => sample.postgresUs || undefined;

const cpuTimesNodePg: ByWorkload = {
  get: 0.65,
  list: 0.75,
  include: 0.7,
  create: 0.85,
  update: 0.85,
  count: 0.8,
  bulk: 1.2,
  export: 0.8,
  remote: 1,
};

/** What requests and processes may cost. */
export const goals: readonly Goal[] = [
  ...times("server CPU", [goalContender, "node-pg"], cpuTimesNodePg, cpu),
  ...times("server CPU", ["keelson-hono", goalContender], each(1.15), cpu),
  ...times("server CPU", ["keelson-client", "hono-prisma"], { ...each(0.8), bulk: 1.5 }, cpu),
  ...times("PostgreSQL's CPU", [goalContender, "node-pg"], each(1), postgresCpu),
  ...times("p50 with one connection", [goalContender, "node-pg"], each(1.1), (sample) => sample.p50Ms, "oneConnection"),
  memory("RSS after load", 200, ({ processes }) =>
    processes.flatMap(({ contender, rssAfterMb }) => (contender === goalContender ? [rssAfterMb] : [])),
  ),
  memory("peak RSS during export", 200, ({ samples }) =>
    samples.flatMap(({ contender, workload, peakRssMb }) =>
      contender === goalContender && workload === "export" && peakRssMb !== undefined ? [peakRssMb] : [],
    ),
  ),
];

/** A goal, and what was measured for it. */
export interface Reached extends Pick<Goal, "what" | "reference"> {
  readonly goal: string;
  readonly measured?: string;
  /** By the median as it is shown, of peaks by the largest. */
  readonly met: boolean;
}

/** Every goal against a run. */
export function reachedGoals(results: Results): Reached[] {
  return goals.map(({ what, reference, goal, measure }) => {
    const digits = reference === "MB" ? 0 : 2;
    const shown = (value: number): string => value.toFixed(digits);
    const ratio = measure(results);
    if (ratio === undefined) return { what, reference, goal: shown(goal), met: false };
    const { median, min, max } = ratio;
    const spread = min === max && reference === "MB" ? "" : ` (${shown(min)}–${shown(max)})`;
    return {
      what,
      reference,
      goal: shown(goal),
      measured: `${shown(median)}${spread}`,
      met: Number(shown(median)) <= goal,
    };
  });
}
