import { peers } from "./contenders.ts";
import { goalContender } from "./goals.ts";
import { markdownTable } from "./markdown-table.ts";
import { processSection } from "./process-section.ts";
import { conditions, goalTable, reasons, sectionsOf, sectionTable } from "./report.ts";
import type { Results } from "./results.ts";
import { medianOf, ratioOf } from "./statistics.ts";
import type { WorkloadId } from "./workloads.ts";

const absent = "–";

/** Medians only, so that the table stays readable; `everything` has the spreads. */
function ratioTable(results: Results, reference: string): string {
  const rows = results.contenders.map(({ id, lacks }) => [
    id,
    ...results.workloads.map((workload) => {
      if (lacks?.[workload] !== undefined) return "n/a";
      if (id === reference) return "1";
      const ratio = ratioOf(results.samples, id, reference, workload, (sample) => sample.cpuUs);
      return ratio?.median.toFixed(2) ?? absent;
    }),
  ]);
  return markdownTable(["server CPU", ...results.workloads], rows);
}

function allocationTable({ contenders, workloads, samples }: Results): string {
  const rows = contenders.map(({ id, lacks }) => [
    id,
    ...workloads.map((workload) => {
      if (lacks?.[workload] !== undefined) return "n/a";
      const bytes = medianOf(samples, id, workload, (sample) => sample.allocatedBytes);
      return bytes === undefined ? absent : (bytes / 1024).toFixed(0);
    }),
  ]);
  return markdownTable(["kB per request", ...workloads], rows);
}

/** How many requests Keelson answers for one that a peer answers, and how long the slowest of a hundred takes. */
function peerTable({ contenders, workloads, samples }: Results): string {
  const present = peers.filter(({ id }) => contenders.some((one) => one.id === id));
  const shown = workloads.filter((workload) => present.some(({ lacks }) => lacks?.[workload] === undefined));
  const p99 = (id: string, workload: WorkloadId): string =>
    medianOf(samples, id, workload, (sample) => sample.p99Ms)?.toFixed(0) ?? absent;
  const rows = shown.map((workload) => [
    workload,
    ...present.map(({ id }) => {
      const ratio = ratioOf(samples, goalContender, id, workload, (sample) => sample.requestsPerSecond);
      return ratio?.median.toFixed(2) ?? absent;
    }),
    p99(goalContender, workload),
    present.map(({ id }) => p99(id, workload)).join(", "),
  ]);
  const names = present.map(({ id }) => id);
  return markdownTable(["workload", ...names, "p99, ms", `theirs (${names.join(", ")})`], rows);
}

/** Every table of the report by workload, with its spreads. */
function everything(results: Results): string {
  return sectionsOf(results)
    .filter(({ title }) => title !== processSection(results).title)
    .map((section) => `### ${section.title}\n\n${section.note}\n\n${sectionTable(section)}`)
    .join("\n\n");
}

/** What a run puts into `docs/performance.md`, by the name of its place there. */
export function performanceBlocks(results: Results): Readonly<Record<string, string>> {
  const contenders = results.contenders.map(({ id, note }) => `- \`${id}\`: ${note}`);
  const missing = reasons(results).map((reason) => `- ${reason}`);
  return {
    conditions: conditions(results).join("\n"),
    contenders: [...contenders, ...missing].join("\n"),
    "times-hono-prisma": ratioTable(results, "hono-prisma"),
    "times-node-pg": ratioTable(results, "node-pg"),
    processes: sectionTable(processSection(results)),
    allocations: allocationTable(results),
    goals: goalTable(results),
    peers: peerTable(results),
    everything: everything(results),
  };
}

const place = /<!-- bench:([a-z-]+) -->\n[\s\S]*?\n?<!-- \/bench -->/g;

/** A page with the figures of a run at the places that are marked `<!-- bench:name -->` … `<!-- /bench -->`. */
export function fillPerformancePage(page: string, results: Results): string {
  const blocks = performanceBlocks(results);
  return page.replace(place, (_, name: string) => {
    const block = blocks[name];
    if (block === undefined)
      throw new Error(`docs/performance.md asks for "${name}"; there are ${Object.keys(blocks)}`);
    return `<!-- bench:${name} -->\n\n${block}\n\n<!-- /bench -->`;
  });
}
