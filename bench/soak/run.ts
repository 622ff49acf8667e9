// A compiled server under a million requests of all kinds: `npm run soak -- --requests 1000000 --database postgres`.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "tsup";
import { LOADED_IN_ORDER } from "../../scripts/loaded-in-order.ts";
import { soakFile } from "./reliability-figures.ts";
import { soak } from "./soak.ts";
import type { DatabaseKind } from "./soak-database.ts";
import { type PublishedRun, soakTable, writeSoakResults } from "./soak-results.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const KINDS: readonly DatabaseKind[] = ["postgres", "embedded"];
/** Shorter runs show that it works, and are not published. */
const WHOLE = 1_000_000;

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: String(WHOLE) },
    database: { type: "string" },
    lanes: { type: "string", default: "24" },
    seed: { type: "string", default: "1" },
    out: { type: "string" },
  },
});
const requests = Number(values.requests);
const databases = KINDS.filter((kind) => values.database === undefined || values.database === kind);
if (!(requests > 0) || databases.length === 0) {
  process.stderr.write("Usage: npm run soak -- [--requests n] [--database postgres|embedded] [--lanes n] [--seed n]\n");
  process.exit(2);
}

const cache = here("../../.cache/");
// One of its own for each run, below this checkout, so that packages are found from there.
const outDir = join(cache, `soak-${process.pid}`);

async function run(): Promise<void> {
  await build({
    entry: { server: here("server.child.ts") },
    outDir,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "node",
    skipNodeModulesBundle: true,
    noExternal: [LOADED_IN_ORDER],
    config: false,
    dts: false,
    silent: true,
  });
  const commit = execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" }).trim();
  const runs: { [K in DatabaseKind]?: PublishedRun } = {};
  for (const database of databases) {
    const result = await soak({
      database,
      requests,
      server: [join(outDir, "server.mjs")],
      lanes: Number(values.lanes),
      seed: Number(values.seed),
      log: (line) => void process.stdout.write(`${database}: ${line}\n`),
    });
    runs[database] = { ...result, commit };
  }
  const results = Object.values(runs);
  process.stdout.write(`\n${soakTable(results)}\n`);
  const out = values.out ?? (requests < WHOLE ? join(cache, "soak-results.json") : soakFile);
  writeSoakResults(out, runs);
  for (const { database, faults } of results)
    for (const fault of faults) process.stdout.write(`${database}: ${fault}\n`);
  if (results.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

mkdirSync(cache, { recursive: true });
await run().finally(() => rmSync(outDir, { recursive: true, force: true }));
