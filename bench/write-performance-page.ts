import { readFileSync, writeFileSync } from "node:fs";
import { fillPerformancePage } from "./performance-page.ts";
import type { Results } from "./results.ts";

const page = new URL("../docs/performance.md", import.meta.url);

/** Puts the figures of a run into `docs/performance.md`. */
export function writePerformancePage(results: Results): void {
  writeFileSync(page, fillPerformancePage(readFileSync(page, "utf8"), results));
}
