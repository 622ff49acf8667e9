/**
 * Sends hostile input to real servers for as long as it takes, and prints how much of it they survived, by class. A
 * failing input is printed as code that gives its bytes, with the seed that finds it again. `npm run fuzz [-- <inputs>]`
 * KEELSON_FUZZ_SEED takes other inputs; KEELSON_FUZZ_REPORT names the file for the figures, which for those that are
 * published is test/security/fuzz/results.json.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FuzzReport } from "../bench/soak/reliability-page.ts";

interface Report extends FuzzReport {
  readonly classes: readonly (FuzzReport["classes"][number] & {
    readonly statuses: Readonly<Record<string, number>>;
  })[];
}

const runs = process.argv[2] ?? process.env.KEELSON_FUZZ_RUNS ?? "20000";
const report = process.env.KEELSON_FUZZ_REPORT ?? join(mkdtempSync(join(tmpdir(), "keelson-fuzz-")), "fuzz.json");
const { status } = spawnSync("npx", ["vitest", "run", "test/security/fuzz", "--typecheck.enabled=false"], {
  stdio: "inherit",
  env: { ...process.env, KEELSON_FUZZ_RUNS: runs, KEELSON_FUZZ_REPORT: report },
});

const { seed, tried, survived, classes } = JSON.parse(readFileSync(report, "utf8")) as Report;
for (const { database, inputs, statuses, ...counts } of classes) {
  const answers = Object.entries(statuses).map(([code, count]) => `${code}: ${count}`);
  console.log(`${database}, ${inputs}: ${counts.survived} of ${counts.tried} (${answers.join(", ")})`);
}
console.log(`${survived} of ${tried} survived, seed ${seed}; the figures are in ${report}`);
process.exitCode = status ?? 1;
