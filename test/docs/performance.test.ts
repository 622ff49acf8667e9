import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { peers } from "../../bench/contenders.ts";
import { goalContender, reachedGoals } from "../../bench/goals.ts";
import { fillPerformancePage, performanceBlocks } from "../../bench/performance-page.ts";
import { renderResults, sectionsOf } from "../../bench/report.ts";
import { renderPage } from "../../bench/report-page.ts";
import { workloadIds } from "../../bench/workloads.ts";
import { benchRun } from "../support/bench-run.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { tableBelow } from "./concepts/table-below.ts";

const page = readFileSync(`${repositoryRoot}/docs/performance.md`, "utf8");
const run = benchRun();

const PLACE = /<!-- bench:([a-z-]+) -->\n\n([\s\S]*?)\n\n<!-- \/bench -->/g;
const blocks = Object.fromEntries([...page.matchAll(PLACE)].map(([, name = "", text = ""]) => [name, text]));
const block = (name: string): string => blocks[name] ?? "";
/** Rows of the table of a place. */
const rowsOf = (name: string): string[][] => tableBelow(`# ${name}\n${block(name)}`, name);
/** Rows of one of the tables with all figures. */
const allOf = (title: string): string[][] => tableBelow(block("everything"), title);
const titles = [...block("everything").matchAll(/^### (.*)$/gm)].map(([, title]) => title as string);

const shown = [...block("contenders").matchAll(/^- `([^`]+)`: /gm)].map(([, id]) => id as string);
const columnOf = (workload: string): number => workloadIds.indexOf(workload as (typeof workloadIds)[number]) + 1;

/** A cell by contender and workload; a median with its spread is shortened to the median. */
function figure(rows: readonly string[][], contender: string, workload: string): string {
  const cell = rows.find(([id]) => id === contender)?.[columnOf(workload)] ?? "";
  return cell.replace(/^\*\*(.*)\*\*.*$/, "$1");
}

describe("docs/performance.md", () => {
  it("has a place for all figures of a run", () => {
    expect(Object.keys(blocks).sort()).toEqual(Object.keys(performanceBlocks(run)).sort());
  });

  it("names date, commit and machine of the run", () => {
    expect(block("conditions")).toMatch(/^\d{4}-\d\d-\d\d, commit [0-9a-f]{7,}\. \d+ rounds, /);
    expect(block("conditions")).toMatch(/^Node \d.*, PostgreSQL \d.*, pg \d/m);
    expect(block("conditions")).toMatch(/ \d+ cores, (server on one core|processes not tied)/);
  });

  it("says if the run was one without peers", () => {
    const complete = peers.every(({ id }) => shown.includes(id));
    expect(page.includes("The run above is one without")).toBe(!complete);
  });

  it("has all contenders and workloads in all tables", () => {
    expect(titles).toHaveLength(10);
    for (const title of titles) expect([title, allOf(title).map(([id]) => id)]).toEqual([title, shown]);
    for (const name of ["times-hono-prisma", "times-node-pg", "allocations", "processes"])
      expect(rowsOf(name).map(([id]) => id)).toEqual(shown);
    const columns = workloadIds.join(" | ");
    expect(page.split(`| ${columns} |\n`)).toHaveLength(titles.length + 4);
    for (const rows of titles.map(allOf))
      for (const cells of rows.flat()) expect(cells).toMatch(/^(n\/a|[a-z-]+|\**\d[\d.]*\**( \/ [\d.]+| \(.*\))?)$/);
  });

  it("describes every workload", () => {
    for (const workload of workloadIds) expect(page).toMatch(new RegExp(`^\\| ${workload} \\| \\S`, "m"));
  });

  it("has the same medians in short and in complete tables", () => {
    for (const reference of ["hono-prisma", "node-pg"]) {
      const all = allOf(`Server CPU per request, times that of ${reference} (lower is better)`);
      for (const contender of shown)
        for (const workload of workloadIds)
          expect(figure(rowsOf(`times-${reference}`), contender, workload)).toBe(figure(all, contender, workload));
    }
  });

  it("lists for each goal the measured value, and whether it is met", () => {
    const rows = rowsOf("goals");
    const expected = reachedGoals(run).map(({ what, reference, goal }) => [what, reference, goal]);
    expect(rows.map((cells) => cells.slice(0, 3))).toEqual(expected);
    const results = rows.map(([, , goal, measured = ""]) =>
      measured === "–" ? "–" : Number.parseFloat(measured) <= Number(goal) ? "met" : "**missed**",
    );
    expect(rows.map((cells) => cells[4])).toEqual(results);
    expect(page.includes("All goals are met.")).toBe(results.every((result) => result === "met"));
  });

  it("has the same medians in the goals and in the tables", () => {
    const measured = (what: string, reference: string): string | undefined =>
      rowsOf("goals")
        .find((cells) => cells[0] === what && cells[1] === reference)?.[3]
        ?.replace(/ \(.*\)$/, "");
    const pairs = [
      [goalContender, "node-pg"],
      ["keelson-client", "hono-prisma"],
    ] as const;
    for (const [contender, reference] of pairs)
      for (const workload of workloadIds) {
        const median = measured(`${workload}: server CPU of ${contender}`, reference);
        if (median !== undefined) expect(median).toBe(figure(rowsOf(`times-${reference}`), contender, workload));
      }
    const [, , , , after, peak] = rowsOf("processes").find(([contender]) => contender === goalContender) ?? [];
    expect(measured(`RSS after load of ${goalContender}`, "MB")).toBe(after);
    expect(measured(`peak RSS during export of ${goalContender}`, "MB")).toBe(peak);
  });

  it("repeats the figures of its tables in sentences", () => {
    const text = page.replaceAll(/\s+/g, " ");
    const [own = [], theirs = []] = [goalContender, "express-prisma"].map((id) =>
      rowsOf("processes").find(([contender]) => contender === id),
    );
    expect(text).toContain(
      `is ${own[4]} MB, that of Express and Prisma ${theirs[4]}; at the peak of an export it is ${own[5]} and ${theirs[5]}.`,
    );
    const [bulk] = rowsOf("peers").filter(([workload]) => workload === "bulk");
    expect(text).toContain(`**bulk** answers ${bulk?.[3]} times as many requests as ZenStack`);
    const times = figure(rowsOf("times-hono-prisma"), goalContender, "bulk");
    expect(text).toContain(`Keelson takes ${times} times the server CPU of Prisma by hand`);
    const remote = Number(figure(rowsOf("times-node-pg"), goalContender, "remote"));
    expect(text).toContain(`**remote** costs ${remote.toFixed(1)} times \`pg\` by hand`);
  });

  it("gets the figures of another run in its places, and nowhere else", () => {
    const filled = fillPerformancePage(page, run);
    for (const text of Object.values(performanceBlocks(run))) expect(filled).toContain(text);
    expect(filled.replaceAll(PLACE, "")).toBe(page.replaceAll(PLACE, ""));
    expect(fillPerformancePage(filled, run)).toBe(filled);
  });

  it("uses only figures that a run has", () => {
    const unknown = page.replace("<!-- bench:goals -->", "<!-- bench:wishes -->");
    expect(() => fillPerformancePage(unknown, run)).toThrow("wishes");
  });
});

describe("the results of a run", () => {
  it("are ratios of rounds, with their spread", () => {
    const own = performanceBlocks(run);
    expect(own.conditions).toMatch(/^2001-02-03, commit 0123abc\. 3 rounds, /);
    expect(own.goals).toContain("| get: server CPU of keelson-node | node-pg | 0.65 | 4.00 (4.00–4.00) | **missed** |");
    expect(own.goals).toContain(
      "| get: p50 with one connection of keelson-node | node-pg | 1.10 | 1.00 (1.00–1.00) | met |",
    );
    expect(own.goals).toContain("| RSS after load of keelson-node | MB | 200 | 100 | met |");
    expect(own.goals).toContain("| get: server CPU of keelson-hono | keelson-node | 1.15 | – | – |");
    expect(own["times-node-pg"]).toMatch(/^\| keelson-node \| 4\.00 \|/m);
    expect(own.peers).toMatch(/^\| get \| 2\.00 \| 4\.00 \| 8\.00 \| 16\.00 \| 9 \|/m);
    expect(own.everything).toMatch(/^\| feathers \|.* n\/a \| n\/a \|$/m);
  });

  it("say in the report that they are partial", () => {
    expect(renderResults(run)).not.toContain("partial run");
    expect(renderResults({ ...run, settings: { ...run.settings, complete: false } })).toContain("partial run");
  });

  it("are the same tables as Markdown and as a page", () => {
    for (const { title } of sectionsOf(run)) {
      expect(renderResults(run)).toContain(`## ${title}\n`);
      expect(renderPage(run)).toContain(`<h2>${title}</h2>`);
    }
  });

  it("are a self-contained page with a plot for every workload", () => {
    const html = renderPage(run);
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\ssrc=|url\(|@import|https?:/i);
    for (const workload of run.workloads) expect(html).toContain(`<h3>${workload}</h3><svg`);
    expect(html).toContain("prefers-color-scheme: dark");
  });

  it("are escaped in HTML", () => {
    const [first, ...others] = run.contenders;
    const html = renderPage({ ...run, contenders: [{ id: first?.id ?? "", note: '<b onclick="x">' }, ...others] });
    expect(html).toContain("&lt;b onclick=&quot;x&quot;&gt;");
    expect(html).not.toContain("<b onclick");
  });
});
