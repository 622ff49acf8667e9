import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readReliabilityFigures } from "../../bench/soak/reliability-figures.ts";
import { fillReliabilityPage, reliabilityBlocks } from "../../bench/soak/reliability-page.ts";
import { DEFAULT_LIMITS } from "../../src/kernel/index.ts";
import { repositoryRoot } from "../support/source-files.ts";
import { tableBelow } from "./concepts/table-below.ts";

const read = (path: string): string => readFileSync(`${repositoryRoot}/${path}`, "utf8");
const page = read("docs/reliability.md");
const figures = readReliabilityFigures();
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

describe("docs/reliability.md", () => {
  it("has the tables that soak:report writes from the figures in the repository", () => {
    expect(fillReliabilityPage(page, figures)).toBe(page);
    for (const block of Object.values(reliabilityBlocks(figures))) expect(page).toContain(block);
  });

  it("reports runs of a million requests on each database without a failure", () => {
    const { postgres, embedded } = figures.soak.runs;
    for (const run of [postgres, embedded]) {
      expect(run?.requests).toBeGreaterThanOrEqual(1_000_000);
      expect(run).toMatchObject({ wrong: 0, serverErrors: 0, lostWrites: 0, faults: [] });
    }
  });

  it("reports thousands of hostile inputs, all of them survived", () => {
    expect(figures.fuzz?.tried).toBeGreaterThanOrEqual(20_000);
    expect(figures.fuzz?.survived).toBe(figures.fuzz?.tried);
  });

  it("names existing tests, one for each fault", () => {
    const files = [...page.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path]) => path as string);
    expect(files.filter((path) => !existsSync(`${repositoryRoot}/${path}`))).toEqual([]);
    for (const heading of ["Faults", "Lost updates"]) {
      const rows = tableBelow(page, heading);
      expect(rows.length).toBeGreaterThan(5);
      for (const row of rows)
        expect([row[0], row.at(-1)]).toEqual([row[0], expect.stringMatching(/^`test\/.*\.test\.ts`$/)]);
    }
  });

  it("names existing commands", () => {
    const names = [...page.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name as string);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(scripts).toHaveProperty([name]);
  });

  it("states the time limits", () => {
    const cells = tableBelow(page, "Who waits how long").map(([, limit = ""]) => limit);
    for (const name of ["ruleMs", "hookMs", "requestMs"] as const)
      expect(cells).toContain(`\`limits.${name}\`, ${DEFAULT_LIMITS[name] / 1000} s`);
    const options = read("docs/concepts/drivers.md");
    for (const name of ["connectionTimeout", "statementTimeout", "idleTransactionTimeout"]) {
      const [, milliseconds] = new RegExp(`^\\| \`${name}\` \\|.*\\| (\\d+) \\|$`, "m").exec(options) ?? [];
      expect(cells.some((cell) => cell.includes(name) && cell.endsWith(`, ${Number(milliseconds) / 1000} s`))).toBe(
        true,
      );
    }
  });

  it("uses only figures that a run has", () => {
    const unknown = page.replace("<!-- reliability:soak -->", "<!-- reliability:wishes -->");
    expect(() => fillReliabilityPage(unknown, figures)).toThrow("wishes");
  });
});
