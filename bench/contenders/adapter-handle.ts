// The API in memory without any server: what every adapter adds to. It takes jobs as the load generator does.
import type { LoadJob, LoadResult } from "../load-process.ts";
import { createMemoryApp } from "../memory-app.ts";
import type { Usage } from "../server-process.ts";
import { type LoadRequest, requestsOf } from "../workloads.ts";

const api = await createMemoryApp();
const none = {};

async function send({ method, path, headers = none, body }: LoadRequest): Promise<number> {
  const bytes = body === undefined ? undefined : ({ kind: "bytes", bytes: Buffer.from(body) } as const);
  const { status } = await api.handle({ method, url: path, headers, body: bytes });
  return status;
}

/** As many requests at a time as there would be connections. */
async function run({ workload, connections, seconds }: LoadJob): Promise<LoadResult> {
  const started = performance.now();
  const end = started + seconds * 1000;
  let requests = 0;
  let failed = 0;
  const asker = async (mine: readonly LoadRequest[]): Promise<void> => {
    for (let i = 0; performance.now() < end; i++) {
      const status = await send(mine[i % mine.length] as LoadRequest);
      requests++;
      if (status >= 300) failed++;
    }
  };
  await Promise.all(requestsOf(workload, connections).map(asker));
  const taken = (performance.now() - started) / 1000;
  return { requests, sent: requests, failed, seconds: taken, p50Ms: 0, p99Ms: 0 };
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() };
}

process.on("message", (message: "usage" | LoadJob) => {
  if (message === "usage") return void process.send?.(usage());
  run(message).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit());
