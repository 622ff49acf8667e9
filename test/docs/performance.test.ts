import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { goalContender, goals, reachedGoals } from "../../bench/goals.ts";
import { fillPerformancePage, performanceBlocks } from "../../bench/performance-page.ts";
import { renderResults } from "../../bench/report.ts";
import { renderPage } from "../../bench/report-page.ts";
import type { Results } from "../../bench/results.ts";
import { workloadIds } from "../../bench/workloads.ts";
import { repositoryRoot } from "../support/source-files.ts";

const read = (path: string): string => readFileSync(`${repositoryRoot}/${path}`, "utf8");
const page = read("docs/performance.md");
const results = JSON.parse(read("bench/results.json")) as Results;

describe("docs/performance.md", () => {
  it("has the tables of bench:report for the published run, and says if it was partial", () => {
    expect(page.includes("The run above is one without")).toBe(!results.settings.complete);
    expect(fillPerformancePage(page, results)).toBe(page);
    for (const block of Object.values(performanceBlocks(results))) expect(page).toContain(block);
  });

  it("describes every workload", () => {
    for (const workload of workloadIds) expect(page).toMatch(new RegExp(`^\\| ${workload} \\| \\S`, "m"));
  });

  it("lists for each goal the measured value, and whether it is met", () => {
    expect(results.contenders.map(({ id }) => id)).toContain(goalContender);
    const reached = reachedGoals(results);
    expect(reached).toHaveLength(goals.length * 2);
    for (const { workload, reference, goal, measured, met } of reached) {
      const median = measured?.median.toFixed(2);
      const row = new RegExp(
        `^\\| ${workload} \\| ${reference} \\| ${goal.toFixed(2)} \\| ${median} \\(.*\\| (.*) \\|$`,
        "m",
      );
      expect(row.exec(page)?.[1]).toBe(met ? "met" : "**missed**");
      expect(met).toBe(Number(median) <= goal);
    }
  });

  it("uses only figures that a run has", () => {
    const unknown = page.replace("<!-- bench:goals -->", "<!-- bench:wishes -->");
    expect(() => fillPerformancePage(unknown, results)).toThrow("wishes");
  });
});

describe("the published results", () => {
  it("are the same figures as a table and as a page", () => {
    expect(read("bench/results.md")).toBe(renderResults(results));
    expect(read("bench/report.html")).toBe(renderPage(results));
  });

  it("are a self-contained page with a plot for every workload", () => {
    const html = renderPage(results);
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\ssrc=|url\(|@import|https?:/i);
    for (const workload of results.workloads) expect(html).toContain(`<h3>${workload}</h3><svg`);
    expect(html).toContain("prefers-color-scheme: dark");
  });

  it("are escaped in HTML", () => {
    const [first, ...others] = results.contenders;
    const html = renderPage({ ...results, contenders: [{ id: first?.id ?? "", note: '<b onclick="x">' }, ...others] });
    expect(html).toContain("&lt;b onclick=&quot;x&quot;&gt;");
    expect(html).not.toContain("<b onclick");
  });
});
