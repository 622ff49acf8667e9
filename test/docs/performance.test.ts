import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contenders } from "../../bench/contenders.ts";
import { goalContender, goals, reachedGoals } from "../../bench/goals.ts";
import { fillPerformancePage, performanceBlocks } from "../../bench/performance-page.ts";
import { renderResults } from "../../bench/report.ts";
import { renderPage } from "../../bench/report-page.ts";
import type { Results } from "../../bench/results.ts";
import { workloadIds } from "../../bench/workloads.ts";
import { repositoryRoot } from "../support/source-files.ts";

const read = (path: string): string => readFileSync(`${repositoryRoot}/${path}`, "utf8");
const page = read("docs/performance.md");
/** A part of a run: four contenders, two rounds. */
const results = JSON.parse(read("test/docs/bench-results.json")) as Results;

/** The rows of the page's table at a place, as cells by the first cell. */
function tableAt(name: string): { head: readonly string[]; rows: ReadonlyMap<string, readonly string[]> } {
  const text = new RegExp(`<!-- bench:${name} -->\\n([\\s\\S]*?)<!-- /bench -->`).exec(page)?.[1] ?? "";
  const lines = text.split("\n").filter((line) => line.startsWith("| "));
  const [head = [], _, ...rows] = lines.map((line) => line.slice(2, -2).split(" | "));
  return { head, rows: new Map(rows.map((cells) => [cells.slice(0, name === "goals" ? 2 : 1).join(" "), cells])) };
}

describe("docs/performance.md", () => {
  it.each(["times-hono-prisma", "times-node-pg", "allocations"])("has the figures of every contender (%s)", (name) => {
    const { head, rows } = tableAt(name);
    expect(head.slice(1)).toEqual(workloadIds);
    expect([...rows.keys()]).toEqual(contenders.map(({ id }) => id));
    for (const { id, lacks } of contenders)
      for (const [at, workload] of workloadIds.entries())
        expect(rows.get(id)?.[at + 1]).toMatch(lacks?.[workload] === undefined ? /^[\d.]+$/ : /^n\/a$/);
  });

  it("describes every workload", () => {
    for (const workload of workloadIds) expect(page).toMatch(new RegExp(`^\\| ${workload} \\| \\S`, "m"));
  });

  it("lists for each goal the measured value, and whether it is met", () => {
    const { rows } = tableAt("goals");
    const wanted = goals.flatMap(({ workload, timesHonoPrisma, timesNodePg }) => [
      [`${workload} hono-prisma`, timesHonoPrisma, tableAt("times-hono-prisma")] as const,
      [`${workload} node-pg`, timesNodePg, tableAt("times-node-pg")] as const,
    ]);
    expect([...rows.keys()]).toEqual(wanted.map(([name]) => name));
    for (const [name, goal, { head, rows: times }] of wanted) {
      const [workload, , shown, measured = "", met] = rows.get(name) ?? [];
      const median = measured.split(" ")[0];
      expect(shown).toBe(goal.toFixed(2));
      expect(median).toBe(times.get(goalContender)?.[head.indexOf(workload ?? "")]);
      expect(met).toBe(Number(median) <= goal ? "met" : "**missed**");
    }
  });
});

describe("a run", () => {
  it("fills the places of the page with its figures", () => {
    const filled = fillPerformancePage(page, results);
    for (const block of Object.values(performanceBlocks(results))) expect(filled).toContain(block);
    expect(fillPerformancePage(filled, results)).toBe(filled);
    expect(reachedGoals(results).map(({ met }) => met)).toContain(true);
  });

  it("refuses a place for figures that it does not have", () => {
    const unknown = page.replace("<!-- bench:goals -->", "<!-- bench:wishes -->");
    expect(() => fillPerformancePage(unknown, results)).toThrow("wishes");
  });

  it("has a line in its report for each contender and workload", () => {
    const report = renderResults(results);
    for (const { id } of results.contenders) expect(report).toMatch(new RegExp(`^\\| ${id} \\|`, "m"));
    for (const workload of results.workloads) expect(report).toContain(workload);
  });

  it("is shown on a self-contained page with a plot for every workload", () => {
    const html = renderPage(results);
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\ssrc=|url\(|@import|https?:/i);
    for (const workload of results.workloads) expect(html).toContain(`<h3>${workload}</h3><svg`);
    expect(html).toContain("prefers-color-scheme: dark");
  });

  it("is escaped in HTML", () => {
    const [first, ...others] = results.contenders;
    const html = renderPage({ ...results, contenders: [{ id: first?.id ?? "", note: '<b onclick="x">' }, ...others] });
    expect(html).toContain("&lt;b onclick=&quot;x&quot;&gt;");
    expect(html).not.toContain("<b onclick");
  });
});
