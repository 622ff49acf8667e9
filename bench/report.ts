import { type Contender, references } from "./contenders.ts";
import type { Sample } from "./measure.ts";
import { type Figure, medianOf, type Ratio, ratioOf } from "./statistics.ts";
import type { WorkloadId } from "./workloads.ts";

/** What a server's process needed to start, and its memory before and after the load. */
export interface ProcessFigures {
  readonly contender: string;
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly rssStartMb: number;
  readonly rssAfterMb: number;
}

/** How and where a run was done. */
export interface Settings {
  readonly date: string;
  readonly complete: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  readonly pool: number;
  readonly pinned: boolean;
  readonly node: string;
  readonly postgres: string;
  readonly cpu: string;
  readonly cores: number;
  readonly packages: Readonly<Record<string, string>>;
}

/** Everything a run has found; what `results.json` holds. */
export interface Results {
  readonly settings: Settings;
  readonly contenders: readonly Contender[];
  readonly workloads: readonly WorkloadId[];
  readonly processes: readonly ProcessFigures[];
  readonly samples: readonly Sample[];
}

const cpu: Figure = (sample) => sample.cpuUs;
const throughput: Figure = (sample) => sample.requestsPerSecond;

const absent = "–";

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

function ratioText(ratio: Ratio | undefined): string | undefined {
  if (!ratio) return undefined;
  const spread = ratio.min === ratio.max ? "" : ` (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`;
  return `**${ratio.median.toFixed(2)}**${spread}`;
}

/** A table of contenders by workloads. */
function grid(results: Results, cell: (contender: string, workload: WorkloadId) => string | undefined): string {
  const rows = results.contenders.map((contender) => [
    contender.id,
    ...results.workloads.map((workload) =>
      contender.lacks?.[workload] === undefined ? (cell(contender.id, workload) ?? absent) : "n/a",
    ),
  ]);
  return table(["contender", ...results.workloads], rows);
}

function ratioGrid(results: Results, reference: string, figure: Figure): string {
  return grid(results, (contender, workload) =>
    contender === reference ? "1" : ratioText(ratioOf(results.samples, contender, reference, workload, figure)),
  );
}

function medianGrid(results: Results, figure: Figure, text: (value: number) => string): string {
  return grid(results, (contender, workload) => {
    const value = medianOf(results.samples, contender, workload, figure);
    return value === undefined ? undefined : text(value);
  });
}

function latencyGrid(results: Results): string {
  return grid(results, (contender, workload) => {
    const p50 = medianOf(results.samples, contender, workload, (sample) => sample.p50Ms);
    const p99 = medianOf(results.samples, contender, workload, (sample) => sample.p99Ms);
    return p50 === undefined || p99 === undefined ? undefined : `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  });
}

function processTable(results: Results): string {
  const rows = results.processes.map((one) => [
    one.contender,
    ...[one.startMs, one.startCpuMs, one.rssStartMb, one.rssAfterMb].map((value) => value.toFixed(0)),
  ]);
  return table(
    ["contender", "start to first answer, ms", "CPU until then, ms", "RSS at start, MB", "RSS after load, MB"],
    rows,
  );
}

function conditions({ settings }: Results): string {
  const packages = Object.entries(settings.packages).map(([name, version]) => `${name} ${version}`);
  return [
    `${settings.date}. ${settings.rounds} rounds, ${settings.seconds} s measured after ${settings.warmUpSeconds} s of warm-up,`,
    `${settings.connections} connections, pool of ${settings.pool}. Node ${settings.node}, PostgreSQL ${settings.postgres}, ${packages.join(", ")}.`,
    `${settings.cpu}, ${settings.cores} cores, ${settings.pinned ? "server on one core, load and PostgreSQL on another" : "processes not tied to cores"}.`,
  ].join("\n");
}

/** The results as Markdown, ratios first. */
export function renderResults(results: Results): string {
  const sections: [string, string][] = [];
  const present = references.filter((id) => results.contenders.some((one) => one.id === id));
  for (const reference of present)
    sections.push([
      `Server CPU per request, times that of ${reference} (lower is better)`,
      ratioGrid(results, reference, cpu),
    ]);
  for (const reference of present)
    sections.push([
      `Requests per second, times those of ${reference} (higher is better)`,
      ratioGrid(results, reference, throughput),
    ]);
  sections.push(
    ["Server CPU per request, µs", medianGrid(results, cpu, (value) => value.toFixed(0))],
    [
      "PostgreSQL CPU per request, µs",
      medianGrid(
        results,
        (sample) => sample.postgresUs,
        (value) => value.toFixed(0),
      ),
    ],
    ["Requests per second", medianGrid(results, throughput, (value) => value.toFixed(0))],
    [
      "Share of its core that the server used, %",
      medianGrid(
        results,
        (sample) => sample.busy * 100,
        (value) => value.toFixed(0),
      ),
    ],
    ["Latency p50 / p99, ms", latencyGrid(results)],
    ["Start and memory", processTable(results)],
  );
  const partial = results.settings.complete
    ? ""
    : "\n**A quick or partial run: these figures show that it works and nothing more.**\n";
  const lacks = results.contenders.flatMap((contender) =>
    Object.entries(contender.lacks ?? {}).map(([workload, reason]) => `- n/a: ${contender.id}, ${workload}: ${reason}`),
  );
  return [
    "# Benchmark results",
    partial,
    conditions(results),
    "",
    "How to read this: [README.md](README.md). Ratios are medians over the rounds, with the smallest and the largest.",
    "",
    ...results.contenders.map((contender) => `- ${contender.id}: ${contender.note}`),
    ...lacks,
    ...sections.flatMap(([title, body]) => ["", `## ${title}`, "", body]),
    "",
  ].join("\n");
}
