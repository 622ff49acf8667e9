import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildServers, outputFolder } from "./build.ts";
import { checkAnswers } from "./check.ts";
import { canPin, loadCore, pin } from "./cores.ts";
import { type BenchDatabase, openDatabase, poolSize } from "./database.ts";
import { type LoadProcess, startLoad } from "./load-process.ts";
import { measure, type Running, type Sample } from "./measure.ts";
import { type BenchOptions, readOptions, usage } from "./options.ts";
import { type ProcessFigures, type Results, renderResults, type Settings } from "./report.ts";
import { startServer } from "./server-process.ts";

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function packageVersions(): Record<string, string> {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const shown = ["@prisma/client", "@prisma/adapter-pg", "pg", "express", "hono", "@hono/node-server", "autocannon"];
  return Object.fromEntries(shown.map((name) => [name, manifest.devDependencies[name] ?? "unknown"]));
}

function settingsOf(options: BenchOptions, database: BenchDatabase): Settings {
  const { rounds, seconds, warmUpSeconds, connections, complete } = options;
  return {
    date: new Date().toISOString().slice(0, 10),
    complete,
    rounds,
    seconds,
    warmUpSeconds,
    connections,
    pool: poolSize,
    pinned: canPin,
    node: process.versions.node,
    postgres: database.version,
    cpu: cpus()[0]?.model ?? "unknown processor",
    cores: cpus().length,
    packages: packageVersions(),
  };
}

function describe(sample: Sample): string {
  const name = `${sample.workload.padEnd(8)} ${sample.contender.padEnd(16)}`;
  const figures = `${sample.cpuUs.toFixed(0).padStart(6)} µs CPU ${sample.requestsPerSecond.toFixed(0).padStart(7)} req/s`;
  return `round ${sample.round + 1}  ${name} ${figures}  p50 ${sample.p50Ms.toFixed(1)} ms, p99 ${sample.p99Ms.toFixed(1)} ms`;
}

async function processFigures({ contender, server }: Running): Promise<ProcessFigures> {
  const megabyte = 1024 * 1024;
  return {
    contender: contender.id,
    startMs: server.startMs,
    startCpuMs: server.atStart.cpuUs / 1000,
    rssStartMb: server.atStart.rssBytes / megabyte,
    rssAfterMb: (await server.settledUsage()).rssBytes / megabyte,
  };
}

/** Writes the published files after a whole run; other runs leave them alone and write to the cache. */
function write(results: Results): void {
  const folder = results.settings.complete ? fileURLToPath(new URL(".", import.meta.url)) : outputFolder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(results, null, 1)}\n`);
  writeFileSync(join(folder, "results.md"), renderResults(results));
  say(`\n${renderResults(results)}\nWritten to ${join(folder, "results.md")}`);
}

async function run(options: BenchOptions): Promise<void> {
  pin(process.pid, loadCore);
  await buildServers(
    options.contenders.map((contender) => contender.id),
    options.before,
  );
  const database = await openDatabase();
  const running: Running[] = [];
  let load: LoadProcess | undefined;
  try {
    for (const contender of options.contenders) {
      const server = await startServer(contender.id);
      running.push({ contender, server });
      await checkAnswers(contender, server.port);
      await database.restore();
      say(`${contender.id}: answers are right, first one after ${server.startMs.toFixed(0)} ms`);
    }
    load = startLoad();
    const samples = await measure({ options, database, load, running, report: (sample) => say(describe(sample)) });
    const processes = await Promise.all(running.map(processFigures));
    write({
      settings: settingsOf(options, database),
      contenders: options.contenders,
      workloads: options.workloads,
      processes,
      samples,
    });
  } finally {
    load?.stop();
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
