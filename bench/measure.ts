import type { Contender } from "./contenders.ts";
import { cpuOf, loadCore, pin } from "./cores.ts";
import { type BenchDatabase, databaseIsLocal } from "./database.ts";
import type { LoadJob, LoadProcess } from "./load-process.ts";
import type { BenchOptions } from "./options.ts";
import type { MemoryUse, ServerProcess } from "./server-process.ts";
import { type WorkloadId, writes } from "./workloads.ts";

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
  /** Bytes allocated on the JavaScript heap per request, in the warm-up; absent when the process cannot be watched. */
  readonly allocatedBytes?: number;
  /** The largest resident set in the warm-up, in megabytes; absent likewise. */
  readonly peakRssMb?: number;
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

const megabyte = 1024 * 1024;

/** The database's processes, and what each has used so far. Pools open and drop connections, so they are looked up again each time. */
async function backendCpu({ database }: Bench): Promise<ReadonlyMap<number, number>> {
  return databaseIsLocal() ? cpuOf(await database.backends()) : new Map();
}

/** What backends have used in between. One that is gone was idle, or its pool would not have dropped it. */
function difference(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number | undefined {
  let used = 0;
  for (const [pid, cpu] of after) used += cpu - (before.get(pid) ?? 0);
  return after.size === 0 ? undefined : used;
}

/** Sends what is not measured, and watches the server's memory meanwhile, since watching would show in CPU time. */
async function warmUp(
  load: LoadProcess,
  server: ServerProcess,
  job: LoadJob,
): Promise<Pick<Sample, "allocatedBytes" | "peakRssMb">> {
  await server.memory?.begin();
  const { sent } = await load.run(job);
  await server.settledUsage();
  const use: MemoryUse | undefined = await server.memory?.end();
  if (!use) return {};
  return {
    allocatedBytes: use.allocatedBytes / sent,
    ...(use.peakRssBytes !== undefined && { peakRssMb: use.peakRssBytes / megabyte }),
  };
}

async function sampleOf(
  bench: Bench,
  { contender, server }: Running,
  workload: WorkloadId,
  round: number,
): Promise<Sample> {
  const { options, load } = bench;
  const { dialect } = contender;
  const job = { port: server.port, workload, connections: options.connections, ...(dialect && { dialect }) };
  // Of a server's CPU time a third goes into compiling what it runs, until that has run some ten thousand times.
  const seconds = round === 0 ? options.firstWarmUpSeconds : options.warmUpSeconds;
  const memory = await warmUp(load, server, { ...job, seconds });

  const before = await server.settledUsage();
  const backends = await backendCpu(bench);
  for (const pid of backends.keys()) pin(pid, loadCore);

  const result = await load.run({ ...job, seconds: options.seconds });
  // Requests that were cut off are finished and paid for too, so CPU time is divided by those sent.
  const after = await server.settledUsage();
  const postgres = difference(backends, await backendCpu(bench));

  if (result.failed > 0 || result.requests === 0)
    throw new Error(`${contender.id}, ${workload}: ${result.failed} of ${result.requests} requests failed`);
  const cpu = after.cpuUs - before.cpuUs;
  return {
    contender: contender.id,
    workload,
    round,
    requests: result.requests,
    cpuUs: cpu / result.sent,
    ...(postgres !== undefined && { postgresUs: postgres / result.sent }),
    busy: cpu / (result.seconds * 1e6),
    requestsPerSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    ...memory,
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
        if (workload === "bulk") await bench.database.restore(one.contender.id, workload);
        const sample = await sampleOf(bench, one, workload, round);
        // Each begins with the same table, whatever the one before has written.
        if (writes.has(workload)) await bench.database.restore(one.contender.id);
        samples.push(sample);
        bench.report(sample);
      }
    }
  }
  return samples;
}
