// The load generator: a process of its own that sends one workload at a time to one server, as it is told over IPC.
import { dialectOf } from "./dialects/dialects.ts";
import { sayIn } from "./dialects/said.ts";
import type { LoadJob, LoadResult } from "./load-process.ts";
import { sendBriskly } from "./send-briskly.ts";
import { sendWhole } from "./send-whole.ts";
import { loadResult } from "./sent.ts";
import { connectionsOf, lasting, requestsOf } from "./workloads.ts";

async function send(job: LoadJob): Promise<LoadResult> {
  const dialect = dialectOf(job.dialect);
  const plain = requestsOf(job.workload, connectionsOf(job.workload, job.connections));
  const dealt = plain.map((requests) => requests.map((one) => sayIn(dialect, one).request));
  return loadResult(lasting.has(job.workload) ? await sendWhole(job, dealt) : await sendBriskly(job, dealt));
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
