import type { Results } from "./results.ts";
import { type Ratio, ratioOf } from "./statistics.ts";
import type { WorkloadId } from "./workloads.ts";

/** The contender that the goals are about: what is recommended for PostgreSQL. */
export const goalContender = "keelson-node";

/** Server CPU per request, at most so many times that of a hand-written server. */
export interface Goal {
  readonly workload: WorkloadId;
  readonly timesHonoPrisma: number;
  readonly timesNodePg: number;
}

/** What each request may cost. Workloads that are not here have no goal. */
export const goals: readonly Goal[] = [
  { workload: "get", timesHonoPrisma: 0.45, timesNodePg: 1.2 },
  { workload: "list", timesHonoPrisma: 0.5, timesNodePg: 1.0 },
  { workload: "include", timesHonoPrisma: 0.45, timesNodePg: 1.0 },
  { workload: "count", timesHonoPrisma: 0.5, timesNodePg: 1.4 },
  { workload: "create", timesHonoPrisma: 0.5, timesNodePg: 1.5 },
  { workload: "update", timesHonoPrisma: 0.25, timesNodePg: 1.5 },
];

/** A goal, what was measured for it, and whether it is reached. */
export interface Reached {
  readonly workload: WorkloadId;
  readonly reference: "hono-prisma" | "node-pg";
  readonly goal: number;
  /** Absent when the run did not measure it. */
  readonly measured?: Ratio;
  /** By the median as it is shown, with two digits. */
  readonly met: boolean;
}

/** Every goal against a run. */
export function reachedGoals({ samples }: Results): Reached[] {
  return goals.flatMap(({ workload, timesHonoPrisma, timesNodePg }) =>
    (
      [
        ["hono-prisma", timesHonoPrisma],
        ["node-pg", timesNodePg],
      ] as const
    ).map(([reference, goal]) => {
      const measured = ratioOf(samples, goalContender, reference, workload, (sample) => sample.cpuUs);
      const met = measured !== undefined && Number(measured.median.toFixed(2)) <= goal;
      return { workload, reference, goal, ...(measured && { measured }), met };
    }),
  );
}
