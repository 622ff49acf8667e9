import autocannon, { type Result } from "autocannon";
import type { LoadJob } from "./load-process.ts";
import type { Sent } from "./sent.ts";
import type { LoadRequest } from "./workloads.ts";

// How often autocannon looks whether the time is up.
const checkEveryMs = 20;

/**
 * Sends short requests as fast as they are answered.
 * @param verifyBody whether an answer of 2xx is a good one
 */
export async function sendBriskly(
  job: Pick<LoadJob, "port" | "seconds">,
  dealt: readonly LoadRequest[][],
  verifyBody?: (body: string) => boolean,
): Promise<Sent> {
  let next = 0;
  const durations: number[] = [];
  const started = performance.now();
  let seconds = 0;
  const outcome = await new Promise<Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url: `http://127.0.0.1:${job.port}`,
        connections: dealt.length,
        duration: job.seconds,
        sampleInt: checkEveryMs,
        ...(verifyBody && { verifyBody }),
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
  const failed = outcome.non2xx + outcome.errors + outcome.timeouts + outcome.mismatches;
  return { durations, failed, sent: outcome.requests.sent, seconds };
}
