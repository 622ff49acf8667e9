// What each adapter costs per request, above `api.handle` called in the process.
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installNextApp } from "../scripts/install-next-app.ts";
import { runNext } from "../scripts/run-next.ts";
import { buildServers } from "./build.ts";
import { checkAnswers } from "./check.ts";
import type { Contender } from "./contenders.ts";
import { canPin, loadCore, pin, serverCore } from "./cores.ts";
import { type LoadResult, startLoad, startWorker } from "./load-process.ts";
import { measure, type Running, type Sample } from "./measure.ts";
import { type ServerProcess, startServer, type Usage } from "./server-process.ts";
import { differenceOf, medianOf, type Ratio, ratioOf } from "./statistics.ts";
import type { WorkloadId } from "./workloads.ts";

const BASELINE: Contender = { id: "adapter-handle", note: "api.handle, no server" };
const lacks = { remote: "no other service runs in this comparison" };
const HOSTS: readonly Contender[] = [
  { id: "adapter-node", note: "serve, on node:http", lacks },
  { id: "adapter-express", note: "Express 5, mounted first", lacks },
  { id: "adapter-express-behind", note: "Express 5, behind another middleware", lacks },
  { id: "adapter-express4", note: "Express 4, mounted first", lacks },
  { id: "adapter-hono", note: "Hono, @hono/node-server", lacks },
  { id: "adapter-next", note: "Next, next start", lacks },
];
/** A small answer, and a body to read. A list of records in memory is mostly sorting. */
const WORKLOADS: readonly WorkloadId[] = ["get", "update"];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    seconds: { type: "string" },
    hosts: { type: "string" },
  },
});
const wanted = values.hosts?.split(",").map((name) => `adapter-${name.trim()}`);
const hosts = HOSTS.filter(({ id }) => wanted?.includes(id) ?? true);
const options = {
  before: undefined,
  beforeOn: "keelson-node",
  contenders: [BASELINE, ...hosts],
  workloads: WORKLOADS,
  rounds: Number(values.rounds ?? (values.quick ? 1 : 7)),
  seconds: Number(values.seconds ?? (values.quick ? 0.5 : 3)),
  warmUpSeconds: values.quick ? 0.2 : 2,
  firstWarmUpSeconds: values.quick ? 0.4 : 4,
  connections: 32,
  starts: 1,
  complete: false,
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const cpu = (sample: Sample): number => sample.cpuUs;

/** The port of what has none. */
const NO_PORT = 0;

/** The baseline as a server that takes its load in its own process. */
async function startBaseline() {
  const { ask, stop } = startWorker(serverCore, `contender-${BASELINE.id}.mjs`);
  const settledUsage = () => ask<Usage>("usage");
  const startedAt = performance.now();
  const atStart = await settledUsage();
  const startMs = performance.now() - startedAt;
  const server: ServerProcess = { port: NO_PORT, startMs, atStart, settledUsage, stop: async () => stop() };
  return { server, ask };
}

/** The built app that `adapter-next` starts. */
async function buildNextApp(): Promise<string> {
  const folder = fileURLToPath(new URL("../.cache/bench-next/", import.meta.url));
  const parts = ["next-app", "memory-app.ts", "keelson-api.ts", "customers-url.ts", "seed.ts", "model.ts"].map(
    (name) => `bench/${name}`,
  );
  const app = await installNextApp(folder, parts);
  const [code] = await once(runNext("build", app, { stdio: ["ignore", "ignore", "inherit"] }), "exit");
  if (code !== 0) throw new Error("next build has failed");
  return app;
}

function range({ median, min, max }: Ratio, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

function report(samples: readonly Sample[]): void {
  for (const workload of WORKLOADS) {
    say(`\n${workload}: CPU per request, median over ${options.rounds} rounds (smallest–largest)`);
    for (const { id, note } of [BASELINE, ...hosts]) {
      const own = medianOf(samples, id, workload, cpu) as number;
      const ratio = ratioOf(samples, id, BASELINE.id, workload, cpu) as Ratio;
      const more = differenceOf(samples, id, BASELINE.id, workload, cpu) as Ratio;
      const compared = id === BASELINE.id ? "" : `${range(ratio, 2)} × api.handle, ${range(more, 1)} µs more`;
      say(`  ${note.padEnd(38)}${own.toFixed(1).padStart(7)} µs   ${compared}`);
    }
  }
  if (!canPin) say("\nProcesses were not tied to cores.");
  if (values.quick) say("\nA quick run: these figures show that it works and nothing more.");
}

async function run(): Promise<void> {
  if (hosts.some(({ id }) => id === "adapter-next")) process.env.BENCH_NEXT_APP = await buildNextApp();
  pin(process.pid, loadCore);
  const contenders = [BASELINE, ...hosts].map(({ id }) => id);
  await buildServers(contenders, undefined);
  const running: Running[] = [];
  const load = startLoad();
  try {
    const baseline = await startBaseline();
    running.push({ contender: BASELINE, server: baseline.server });
    for (const contender of hosts) {
      const server = await startServer(contender.id);
      running.push({ contender, server });
      await checkAnswers(contender, server.port);
      say(`${contender.note}: answers are right`);
    }
    const samples = await measure({
      options,
      // Records in memory: no processes of a database, and what is changed stays as large as it was.
      database: { backends: async () => [], restore: async () => undefined },
      load: { ...load, run: (job) => (job.port === NO_PORT ? baseline.ask<LoadResult>(job) : load.run(job)) },
      running,
      report: ({ workload, contender, round, cpuUs, busy }) =>
        say(
          `round ${round + 1}  ${workload.padEnd(8)}${contender.padEnd(24)}${cpuUs.toFixed(1).padStart(7)} µs CPU  busy ${(busy * 100).toFixed(0)} %`,
        ),
    });
    report(samples);
  } finally {
    load.stop();
    await Promise.all(running.map(({ server }) => server.stop()));
  }
}

try {
  await run();
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
