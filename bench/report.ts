import { reachedGoals } from "./goals.ts";
import { markdownTable } from "./markdown-table.ts";
import { processSection } from "./process-section.ts";
import { type Section, workloadSections } from "./report-sections.ts";
import type { Results } from "./results.ts";

const absent = "–";

/** A section's table in Markdown. */
export function sectionTable({ columns, rows }: Pick<Section, "columns" | "rows">): string {
  const lines = rows.map(({ contender, cells }) => [contender, ...cells.map((cell) => cell?.text ?? absent)]);
  return markdownTable(["contender", ...columns], lines);
}

/** Every goal, what was measured for it, and whether it is met. */
export function goalTable(results: Results): string {
  const rows = reachedGoals(results).map(({ what, reference, goal, measured, met }) => [
    what,
    reference,
    goal,
    measured ?? absent,
    measured === undefined ? absent : met ? "met" : "**missed**",
  ]);
  return markdownTable(["what", "reference", "goal", "measured", ""], rows);
}

/** How and where the run was done, in sentences, one per line. */
export function conditions({ settings }: Results): string[] {
  const packages = Object.entries(settings.packages).map(([name, version]) => `${name} ${version}`);
  return [
    `${settings.date}, commit ${settings.commit}. ${settings.rounds} rounds, ${settings.seconds} s measured after ${settings.warmUpSeconds} s of warm-up ` +
      `(${settings.firstWarmUpSeconds} s in the first round), ` +
      `${settings.connections} connections, pool of ${settings.pool}.`,
    `Node ${settings.node}, PostgreSQL ${settings.postgres}, ${packages.join(", ")}.`,
    `${settings.cpu}, ${settings.cores} cores, ${settings.pinned ? "server on one core, load and PostgreSQL on another" : "processes not tied to cores"}.`,
  ];
}

/** Why a contender has no figure where it has none. */
export function reasons({ contenders, workloads }: Results): string[] {
  return contenders.flatMap(({ id, lacks }) =>
    workloads.flatMap((workload) => {
      const reason = lacks?.[workload];
      return reason === undefined ? [] : [`n/a: ${id}, ${workload}: ${reason}`];
    }),
  );
}

/** What is said of a run that is not a whole one. */
export const partialNote = "A quick or partial run: these figures show that it works and nothing more.";

/** The tables of a report, in their order, without those that nothing was measured for. */
export function sectionsOf(results: Results): Section[] {
  const all = [...workloadSections(results), processSection(results)];
  return all.filter(({ rows }) => rows.some(({ cells }) => cells.some((cell) => cell?.value !== undefined)));
}

/** The results as Markdown, ratios first. */
export function renderResults(results: Results): string {
  return [
    "# Benchmark results",
    results.settings.complete ? "" : `\n**${partialNote}**\n`,
    conditions(results).join("\n"),
    "",
    "How to read this: [README.md](../README.md). Ratios are medians over the rounds, with the smallest and the largest.",
    "",
    ...results.contenders.map((contender) => `- ${contender.id}: ${contender.note}`),
    ...reasons(results).map((reason) => `- ${reason}`),
    ...sectionsOf(results).flatMap((section) => ["", `## ${section.title}`, "", sectionTable(section)]),
    "",
    "## Goals",
    "",
    goalTable(results),
    "",
  ].join("\n");
}
