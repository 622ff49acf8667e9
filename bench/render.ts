// Writes results.md, report.html and the tables of docs/performance.md again, from the figures in results/results.json.
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
  process.stderr.write("bench: bench/results/results.json is missing; a complete run of npm run bench writes it\n");
  process.exitCode = 1;
}
