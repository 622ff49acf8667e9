// Writes results.md, report.html and the tables of docs/performance.md again, from the results of the last whole run.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "./results.ts";
import { writePerformancePage } from "./write-performance-page.ts";
import { resultsFolder, writeResults } from "./write-results.ts";

const file = join(resultsFolder, "results.json");
if (existsSync(file)) {
  const results = JSON.parse(readFileSync(file, "utf8")) as Results;
  writeResults(results, resultsFolder);
  writePerformancePage(results);
} else {
  process.stderr.write("report: there are no results of a whole run here; npm run bench makes them\n");
  process.exitCode = 1;
}
