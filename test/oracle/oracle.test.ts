import { describe, expect, it } from "vitest";
import type { DatabaseName } from "./database.ts";
import { explore } from "./explore.ts";
import { featuresOf } from "./features.ts";
import { printScenario } from "./print.ts";

/** A look at each database in every run of the tests; `npm run oracle` is for long ones. */
const RUNS: readonly (readonly [DatabaseName, number])[] = [
  ["memory", 600],
  ["sqlite", 300],
  ["postgres", 300],
];

/** Plugins of `examples/plugins` that an app has besides, or in place of rules. */
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
