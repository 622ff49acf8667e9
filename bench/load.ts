// The load generator: a process of its own that sends one workload at a time to one server, as it is told over IPC.
import autocannon from "autocannon";
import type { LoadJob, LoadResult } from "./load-process.ts";
import { requestsOf } from "./workloads.ts";

// How often autocannon looks whether the time is up.
const checkEveryMs = 20;

const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function send(job: LoadJob): Promise<LoadResult> {
  const dealt = requestsOf(job.workload, job.connections);
  let next = 0;
  const durations: number[] = [];
  const started = performance.now();
  let seconds = 0;
  const outcome = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url: `http://127.0.0.1:${job.port}`,
        connections: job.connections,
        duration: job.seconds,
        sampleInt: checkEveryMs,
        setupClient: (client) => client.setRequests([...(dealt[next++] ?? [])]),
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    );
    // autocannon's own latencies are whole milliseconds, too coarse for the fast workloads.
    instance.on("response", (_client, _status, _bytes, durationMs) => {
      durations.push(durationMs);
      seconds = (performance.now() - started) / 1000;
    });
  });
  const sorted = Float64Array.from(durations).sort();
  return {
    requests: durations.length,
    sent: outcome.requests.sent,
    failed: outcome.non2xx + outcome.errors + outcome.timeouts,
    seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
}

process.on("message", (job: LoadJob) => {
  send(job).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit());
