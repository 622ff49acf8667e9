import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FuzzReport, ReliabilityFigures } from "./reliability-page.ts";
import { readSoakResults } from "./soak-results.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The runs that are published. */
export const soakFile = here("results.json");
const fuzzFile = here("../../test/security/fuzz/results.json");

/** The figures in the repository. */
export function readReliabilityFigures(): ReliabilityFigures {
  const fuzz = existsSync(fuzzFile) ? (JSON.parse(readFileSync(fuzzFile, "utf8")) as FuzzReport) : undefined;
  return { soak: readSoakResults(soakFile), fuzz };
}
