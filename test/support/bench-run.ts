import { contenders, peers } from "../../bench/contenders.ts";
import { oneConnectionContenders } from "../../bench/goals.ts";
import type { Results } from "../../bench/results.ts";
import { workloadIds } from "../../bench/workloads.ts";

const ROUNDS = [0, 1, 2];
const TAKING_PART = ["node-pg", "hono-prisma", "keelson-node", ...peers.map(({ id }) => id)];

/** The results of a small complete run. Each contender costs twice the one before, and a tenth more in each round. */
export function benchRun(): Results {
  const present = contenders.filter(({ id }) => TAKING_PART.includes(id));
  const cost = (contender: string, round: number): number =>
    100 * 2 ** TAKING_PART.indexOf(contender) * (1 + round / 10);
  const samples = present.flatMap(({ id, lacks }) =>
    workloadIds
      .filter((workload) => lacks?.[workload] === undefined)
      .flatMap((workload) =>
        ROUNDS.map((round) => ({
          contender: id,
          workload,
          round,
          requests: 1000,
          cpuUs: cost(id, round),
          postgresUs: 50,
          busy: 0.9,
          requestsPerSecond: 1e6 / cost(id, round),
          p50Ms: 2,
          p99Ms: 9,
          allocatedBytes: 20_480,
          peakRssMb: 120,
        })),
      ),
  );
  return {
    settings: {
      date: "2001-02-03",
      commit: "0123abc",
      complete: true,
      rounds: ROUNDS.length,
      seconds: 2,
      warmUpSeconds: 0.6,
      firstWarmUpSeconds: 3,
      connections: 32,
      starts: 5,
      pool: 10,
      pinned: true,
      node: "20.0.0",
      postgres: "15.0",
      cpu: "A processor",
      cores: 2,
      packages: { pg: "8.0.0" },
    },
    contenders: present,
    workloads: workloadIds,
    processes: present.map(({ id }) => ({
      contender: id,
      startMs: 200,
      startMsRange: [190, 210],
      startCpuMs: 150,
      startCpuMsRange: [140, 160],
      rssStartMb: 60,
      rssAfterMb: 100,
    })),
    samples,
    oneConnection: samples.filter(({ contender }) => oneConnectionContenders.includes(contender)),
  };
}
