import { describe, expect, it } from "vitest";
import type { DatabaseName } from "./database.ts";
import { explore } from "./explore.ts";
import { featuresOf } from "./features.ts";
import { printScenario } from "./print.ts";

/** A short run on each database in every test run; `npm run oracle` starts long ones. */
const RUNS: readonly (readonly [DatabaseName, number])[] = [
  ["memory", 600],
  ["sqlite", 300],
  ["postgres", 300],
];

/** Plugins of `examples/plugins` that extend an app, or replace its rules. */
const WITH: readonly (readonly [string, number])[] = [
  ["tenancy", 400],
  ["casl", 300],
];

describe("every surface agrees with an independent evaluator", () => {
  it.each(RUNS)("over random models, callers and steps on %s", async (database, steps) => {
    const { found } = await explore({ database, steps, seed: 1, features: featuresOf(undefined) });
    expect(found.map(({ scenario, finding }) => printScenario(scenario, finding))).toEqual([]);
  });

  it.each(WITH)("in apps with the plugin of the example %s", async (companion, steps) => {
    const features = featuresOf(undefined, companion);
    const { found } = await explore({ database: "memory", steps, seed: 1, features });
    expect(found.map(({ scenario, finding }) => printScenario(scenario, finding))).toEqual([]);
  });
});
