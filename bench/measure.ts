import type { Contender } from "./contenders.ts";
import { cpuOf, loadCore, pin } from "./cores.ts";
import { type BenchDatabase, databaseIsLocal } from "./database.ts";
import type { LoadProcess } from "./load-process.ts";
import type { BenchOptions } from "./options.ts";
import type { ServerProcess } from "./server-process.ts";
import type { WorkloadId } from "./workloads.ts";

/** One contender, one workload, one round. */
export interface Sample {
  readonly contender: string;
  readonly workload: WorkloadId;
  readonly round: number;
  readonly requests: number;
  /** CPU time of the server's process per request, in microseconds. */
  readonly cpuUs: number;
  /** CPU time of the PostgreSQL backends per request, in microseconds; absent when they cannot be observed. */
  readonly postgresUs?: number;
  /** How much of its core the server used, 0 to 1; well below 1, something else set the pace. */
  readonly busy: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A contender and its running server. */
export interface Running {
  readonly contender: Contender;
  readonly server: ServerProcess;
}

/** What measuring needs. */
export interface Bench {
  readonly options: BenchOptions;
  readonly database: Pick<BenchDatabase, "backends" | "restore">;
  readonly load: LoadProcess;
  readonly running: readonly Running[];
  /** Called after each sample. */
  readonly report: (sample: Sample) => void;
}

/** The same list, begun at another place. */
const rotate = <T>(items: readonly T[], by: number): T[] =>
  items.map((_, index) => items[(index + by) % items.length] as T);

async function sampleOf(
  bench: Bench,
  { contender, server }: Running,
  workload: WorkloadId,
  round: number,
): Promise<Sample> {
  const { options, load, database } = bench;
  const job = { port: server.port, workload, connections: options.connections };
  // The first round also meets code that is not compiled yet.
  await load.run({ ...job, seconds: options.warmUpSeconds * (round === 0 ? 2 : 1) });

  const before = await server.settledUsage();
  // Pools open and drop connections, so backends are looked up again each time.
  const backends = databaseIsLocal() ? await database.backends() : [];
  for (const pid of backends) pin(pid, loadCore);

  const postgresBefore = cpuOf(backends);
  const result = await load.run({ ...job, seconds: options.seconds });
  // Requests that were cut off are finished and paid for too, so CPU time is divided by those sent.
  const after = await server.settledUsage();
  const postgresAfter = cpuOf(backends);

  if (result.failed > 0 || result.requests === 0)
    throw new Error(`${contender.id}, ${workload}: ${result.failed} of ${result.requests} requests failed`);
  const cpu = after.cpuUs - before.cpuUs;
  return {
    contender: contender.id,
    workload,
    round,
    requests: result.requests,
    cpuUs: cpu / result.sent,
    ...(postgresBefore !== undefined &&
      postgresAfter !== undefined && { postgresUs: (postgresAfter - postgresBefore) / result.sent }),
    busy: cpu / (result.seconds * 1e6),
    requestsPerSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
  };
}

/**
 * Loads every contender with every workload in every round. Contenders take turns within a workload, a few seconds
 * apart, so that a slow minute of the machine hits all of them; who begins changes from turn to turn.
 */
export async function measure(bench: Bench): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < bench.options.rounds; round++) {
    for (const [turn, workload] of bench.options.workloads.entries()) {
      for (const one of rotate(bench.running, round + turn)) {
        if (one.contender.lacks?.[workload] !== undefined) continue;
        const sample = await sampleOf(bench, one, workload, round);
        // Each begins with the same table, whatever the one before has written.
        if (workload === "create" || workload === "update") await bench.database.restore();
        samples.push(sample);
        bench.report(sample);
      }
    }
  }
  return samples;
}
