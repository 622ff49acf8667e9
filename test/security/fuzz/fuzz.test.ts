import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { bodies, imports } from "../../support/fuzz/arbitraries/bodies.ts";
import { anyBytes } from "../../support/fuzz/arbitraries/bytes.ts";
import { framing } from "../../support/fuzz/arbitraries/framing.ts";
import { headers } from "../../support/fuzz/arbitraries/headers.ts";
import { paths } from "../../support/fuzz/arbitraries/paths.ts";
import { looseQuery, structuredQuery } from "../../support/fuzz/arbitraries/queries.ts";
import { FUZZ_DATABASES } from "../../support/fuzz/databases.ts";
import { type FuzzInput, sent } from "../../support/fuzz/fuzz-input.ts";
import { createTally } from "../../support/fuzz/tally.ts";
import { createTrial } from "../../support/fuzz/try-input.ts";
import { type FuzzWorld, openWorld } from "../../support/fuzz/world.ts";
import { amount } from "../../support/suite.ts";

// Bytes that no regular client sends. For any of them, the server stays up, responds in HTTP with its one error format, logs
// no failure, reveals nothing to the wrong caller, and makes only permitted changes.

/** The same inputs in every run, unless a seed is given. */
const SEED = Number(process.env.KEELSON_FUZZ_SEED ?? 20_261_122);
/** Total number of inputs. */
const RUNS = Number(process.env.KEELSON_FUZZ_RUNS ?? amount(300, 1_600));
/** fast-check shrinks a failing case, which repeats it. */
const PATIENCE = 3_600_000;

const CLASSES: readonly (readonly [name: string, share: number, inputs: fc.Arbitrary<FuzzInput>])[] = [
  ["queries that are made of what there is", 0.22, structuredQuery],
  ["queries that are made of any bytes", 0.08, looseQuery],
  ["bodies", 0.25, bodies],
  ["imports", 0.05, imports],
  ["paths and methods", 0.12, paths],
  ["headers", 0.1, headers],
  ["framing and smuggling", 0.1, framing],
  ["any bytes", 0.08, anyBytes],
];
const SHARES: Readonly<Record<string, number>> = { SQLite: 0.7, PostgreSQL: 0.3 };

const tally = createTally(SEED);
afterAll(() => tally.write());

describe.each(FUZZ_DATABASES)("an app on %s survives", (database, open) => {
  let world: FuzzWorld;
  beforeAll(async () => {
    world = await openWorld(open);
  });
  afterAll(() => world?.close());

  it.each(CLASSES)("%s", { timeout: PATIENCE }, async (name, share, inputs) => {
    const trial = await createTrial(world, tally.open(database, name));
    const numRuns = Math.ceil(RUNS * share * (SHARES[database] ?? 0));
    await fc.assert(fc.asyncProperty(sent(inputs), trial), { seed: SEED, numRuns });
  });
});
