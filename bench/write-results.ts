import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderResults } from "./report.ts";
import { renderPage } from "./report-page.ts";
import type { Results } from "./results.ts";

/** Writes what a run has found: for programs, for reading beside the code, and as a page with plots. */
export function writeResults(results: Results, folder: string): void {
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(results, null, 1)}\n`);
  writeFileSync(join(folder, "results.md"), renderResults(results));
  writeFileSync(join(folder, "report.html"), renderPage(results));
}
