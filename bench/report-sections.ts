import { references } from "./contenders.ts";
import type { Results } from "./results.ts";
import { type Figure, medianOf, type Ratio, ratioOf } from "./statistics.ts";
import type { WorkloadId } from "./workloads.ts";

/** A value in a table, as it is read and as it is drawn. */
export interface Cell {
  readonly text: string;
  /** Where its mark is. */
  readonly value?: number;
  /** From where to where a line goes beside the mark: the smallest and the largest over the rounds, or two values. */
  readonly range?: readonly [from: number, to: number];
}

/** What a plot of a table looks like: marks with their spread around 1, bars, or lines from one value to another. */
export type PlotKind = "ratio" | "bar" | "span";

/** One table of the report, and how it is drawn. */
export interface Section {
  readonly title: string;
  readonly note: string;
  readonly plot: PlotKind;
  readonly columns: readonly string[];
  /** Cells by contender, in the order of `columns`; `undefined` where nothing was measured. */
  readonly rows: readonly { readonly contender: string; readonly cells: readonly (Cell | undefined)[] }[];
}

const cpu: Figure = (sample) => sample.cpuUs;
const throughput: Figure = (sample) => sample.requestsPerSecond;

/** A ratio with its spread. */
export function ratioCell(ratio: Ratio | undefined): Cell | undefined {
  if (!ratio) return undefined;
  const { median, min, max } = ratio;
  const spread = min === max ? "" : ` (${min.toFixed(2)}–${max.toFixed(2)})`;
  return { text: `**${median.toFixed(2)}**${spread}`, value: median, range: [min, max] };
}

type CellOf = (contender: string, workload: WorkloadId) => Cell | undefined;

function byWorkload(results: Results, about: Pick<Section, "title" | "note" | "plot">, cell: CellOf): Section {
  const rows = results.contenders.map((contender) => ({
    contender: contender.id,
    cells: results.workloads.map((workload) =>
      contender.lacks?.[workload] === undefined ? cell(contender.id, workload) : { text: "n/a" },
    ),
  }));
  return { ...about, columns: results.workloads, rows };
}

function ratios(results: Results, reference: string, title: string, figure: Figure): Section {
  const note = `Medians of the rounds' ratios, with the smallest and the largest; 1 is ${reference}.`;
  return byWorkload(results, { title, note, plot: "ratio" }, (contender, workload) =>
    contender === reference
      ? { text: "1", value: 1 }
      : ratioCell(ratioOf(results.samples, contender, reference, workload, figure)),
  );
}

function medians(results: Results, title: string, note: string, figure: Figure, digits = 0): Section {
  return byWorkload(results, { title, note, plot: "bar" }, (contender, workload) => {
    const value = medianOf(results.samples, contender, workload, figure);
    return value === undefined ? undefined : { text: value.toFixed(digits), value };
  });
}

function latencies(results: Results): Section {
  const title = "Latency p50 / p99, ms";
  const note = `Of ${results.settings.connections} connections that ask again at once (export: 4): mostly time in the queue.`;
  return byWorkload(results, { title, note, plot: "span" }, (contender, workload) => {
    const p50 = medianOf(results.samples, contender, workload, (sample) => sample.p50Ms);
    const p99 = medianOf(results.samples, contender, workload, (sample) => sample.p99Ms);
    if (p50 === undefined || p99 === undefined) return undefined;
    return { text: `${p50.toFixed(1)} / ${p99.toFixed(1)}`, value: p50, range: [p50, p99] };
  });
}

/** The tables by workload, ratios first. */
export function workloadSections(results: Results): Section[] {
  const present = references.filter((id) => results.contenders.some((one) => one.id === id));
  const times = (reference: string): string => `times that of ${reference} (lower is better)`;
  return [
    ...present.map((id) => ratios(results, id, `Server CPU per request, ${times(id)}`, cpu)),
    ...present.map((id) =>
      ratios(results, id, `Requests per second, times those of ${id} (higher is better)`, throughput),
    ),
    medians(results, "Server CPU per request, µs", "User and system time of the server's process.", cpu),
    medians(
      results,
      "PostgreSQL CPU per request, µs",
      "Work that was moved to the database, or saved there.",
      (sample) => sample.postgresUs,
    ),
    medians(results, "Requests per second", "As many as one core answers, where it is the limit.", throughput),
    medians(
      results,
      "Share of its core that the server used, %",
      "Near 100, the server was the limit.",
      (sample) => sample.busy * 100,
    ),
    latencies(results),
    medians(
      results,
      "Allocated per request, kB",
      "On the JavaScript heap, what is collected meanwhile included; measured in the warm-up.",
      (sample) => (sample.allocatedBytes === undefined ? undefined : sample.allocatedBytes / 1024),
      1,
    ),
  ];
}
