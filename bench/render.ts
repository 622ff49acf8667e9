// Writes results.md, report.html and the tables of docs/performance.md again, from the figures in results.json.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Results } from "./results.ts";
import { writePerformancePage } from "./write-performance-page.ts";
import { writeResults } from "./write-results.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const results = JSON.parse(readFileSync(`${folder}results.json`, "utf8")) as Results;
writeResults(results, folder);
writePerformancePage(results);
