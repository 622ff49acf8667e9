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

describe("every surface agrees with an independent evaluator", () => {
  it.each(RUNS)("over random models, callers and steps on %s", async (database, steps) => {
    const { found } = await explore({ database, steps, seed: 1, features: featuresOf(undefined) });
    expect(found.map(({ scenario, finding }) => printScenario(scenario, finding))).toEqual([]);
  });
});
