/** One process of the oracle: `run.ts` assigns its part of the work. */
import { parseArgs } from "node:util";
import type { DatabaseName } from "./database.ts";
import { explore } from "./explore.ts";
import { featuresOf } from "./features.ts";
import { printScenario } from "./print.ts";
import { shrink } from "./shrink.ts";

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    database: { type: "string", default: "memory" },
    findings: { type: "string", default: "1" },
    only: { type: "string" },
    with: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
    brief: { type: "boolean", default: false },
  },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const database = values.database as DatabaseName;
const features = featuresOf(values.only?.split(","), values.with);
const started = Date.now();
const { steps, found } = await explore(
  { database, features, seed: Number(values.seed), steps: Number(values.steps) },
  Number(values.findings),
);
const seconds = (Date.now() - started) / 1000;
for (const one of found) {
  const least = values["no-shrink"] || values.brief ? one : await shrink(one, database, features);
  say(`\nseed ${one.seed}\n${printScenario(least.scenario, least.finding, values.brief)}`);
}
say(
  `${steps} steps on ${database} in ${seconds.toFixed(1)} s (${Math.round(steps / seconds)} a second), ${found.length} findings`,
);
process.exit(found.length === 0 ? 0 : 1);
