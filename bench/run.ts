import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { buildServers, outputFolder } from "./build.ts";
import { checkAnswers } from "./check.ts";
import { type Contender, peers, peersAreInstalled, peersHint } from "./contenders.ts";
import { canPin, loadCore, pin } from "./cores.ts";
import { type BenchDatabase, openDatabase, poolSize } from "./database.ts";
import { oneConnectionContenders } from "./goals.ts";
import { type LoadProcess, startLoad, startWorker, type Worker } from "./load-process.ts";
import { type Bench, measure, type Running, type Sample } from "./measure.ts";
import { measureStarts, type StartFigures } from "./measure-starts.ts";
import { type BenchOptions, readOptions, usage } from "./options.ts";
import { renderResults } from "./report.ts";
import type { ProcessFigures, Results, Settings } from "./results.ts";
import { startServer } from "./server-process.ts";
import { writePerformancePage } from "./write-performance-page.ts";
import { resultsFolder, writeResults } from "./write-results.ts";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Versions of some dependencies, from a manifest. */
function versionsIn(manifest: string, shown: readonly string[]): Record<string, string> {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL(manifest, import.meta.url), "utf8"),
  ) as Record<string, Record<string, string>>;
  const versions = { ...dependencies, ...devDependencies };
  return Object.fromEntries(shown.map((name) => [name, versions[name] ?? "unknown"]));
}

function packageVersions(contenders: readonly Contender[]): Record<string, string> {
  const own = ["@prisma/client", "@prisma/adapter-pg", "pg", "express", "hono", "@hono/node-server"];
  const others = ["@feathersjs/feathers", "remult", "@zenstackhq/orm", "payload"];
  return {
    ...versionsIn("../package.json", own),
    ...versionsIn("package.json", ["autocannon"]),
    ...(contenders.some((one) => peers.includes(one)) && versionsIn("peers/package.json", others)),
  };
}

function settingsOf(options: BenchOptions, database: BenchDatabase): Settings {
  const { rounds, seconds, warmUpSeconds, firstWarmUpSeconds, connections, starts, complete } = options;
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" }).trim(),
    complete,
    rounds,
    seconds,
    warmUpSeconds,
    firstWarmUpSeconds,
    connections,
    starts,
    pool: poolSize,
    pinned: canPin,
    node: process.versions.node,
    postgres: database.version,
    cpu: cpus()[0]?.model ?? "unknown processor",
    cores: cpus().length,
    packages: packageVersions(options.contenders),
  };
}

function describe(sample: Sample): string {
  const name = `${sample.workload.padEnd(9)} ${sample.contender.padEnd(16)}`;
  const figures = `${sample.cpuUs.toFixed(0).padStart(6)} µs CPU ${sample.requestsPerSecond.toFixed(0).padStart(7)} req/s`;
  return `round ${sample.round + 1}  ${name} ${figures}  p50 ${sample.p50Ms.toFixed(1)} ms, p99 ${sample.p99Ms.toFixed(1)} ms`;
}

async function processFigures(starts: readonly StartFigures[], running: readonly Running[]): Promise<ProcessFigures[]> {
  const megabyte = 1024 * 1024;
  const figures: ProcessFigures[] = [];
  for (const { contender, server } of running) {
    const start = starts.find((one) => one.contender === contender.id) as StartFigures;
    figures.push({ ...start, rssAfterMb: (await server.settledUsage()).rssBytes / megabyte });
  }
  return figures;
}

/** Starts the service that `remote` asks; servers find it in their environment. */
async function startCustomers(): Promise<Worker> {
  const customers = startWorker(loadCore, "customers.mjs");
  process.env.BENCH_CUSTOMERS_URL = await customers.ask<string>("url");
  return customers;
}

/** Writes the results, and after a whole run the published page; other runs leave both alone and write to the cache. */
function write(results: Results): void {
  const folder = results.settings.complete ? resultsFolder : outputFolder;
  writeResults(results, folder);
  if (results.settings.complete) writePerformancePage(results);
  say(`\n${renderResults(results)}\nWritten to ${folder}: results.json, results.md, report.html`);
}

/** A short pass in which nobody waits in a queue. */
async function measureOneConnection(bench: Bench): Promise<Sample[]> {
  const running = bench.running.filter(({ contender }) => oneConnectionContenders.includes(contender.id));
  if (running.length < oneConnectionContenders.length) return [];
  say("with one connection");
  const { warmUpSeconds } = bench.options;
  return measure({
    ...bench,
    running,
    options: { ...bench.options, connections: 1, firstWarmUpSeconds: warmUpSeconds },
  });
}

async function run(options: BenchOptions): Promise<void> {
  pin(process.pid, loadCore);
  await buildServers(
    options.contenders.map((contender) => contender.id),
    options.before,
    options.beforeOn,
  );
  if (!peersAreInstalled) say(peersHint);
  const database = await openDatabase();
  const running: Running[] = [];
  let load: LoadProcess | undefined;
  let customers: Worker | undefined;
  try {
    customers = await startCustomers();
    const starts = await measureStarts(options.contenders, options.starts, ({ id }) => startServer(id));
    say(`started everybody ${options.starts} times`);
    for (const contender of options.contenders) {
      const server = await startServer(contender.id);
      running.push({ contender, server });
      await checkAnswers(contender, server.port);
      await database.restore(contender.id);
      say(`${contender.id}: answers are right, first one after ${server.startMs.toFixed(0)} ms`);
    }
    load = startLoad();
    const bench: Bench = { options, database, load, running, report: (sample) => say(describe(sample)) };
    const samples = await measure(bench);
    const processes = await processFigures(starts, running);
    write({
      settings: settingsOf(options, database),
      contenders: options.contenders,
      workloads: options.workloads,
      processes,
      samples,
      oneConnection: await measureOneConnection(bench),
    });
  } finally {
    load?.stop();
    customers?.stop();
    await Promise.all(running.map(({ server }) => server.stop()));
    await database.close();
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await run(options);
  else say(usage);
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
