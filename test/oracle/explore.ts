/** Generates models and runs scenarios on each, until the requested number of steps was compared. */
import { buildApp, type OracleApp } from "./build-app.ts";
import { type Database, type DatabaseName, type Databases, openDatabases } from "./database.ts";
import { type Features, SQL_FEATURES } from "./features.ts";
import { makeData } from "./generate/data.ts";
import { makeModel } from "./generate/model.ts";
import { makeStep } from "./generate/steps.ts";
import type { Model, Scenario } from "./model.ts";
import { createRandom } from "./random.ts";
import { type Finding, runScenario } from "./run-scenario.ts";

export interface Options {
  readonly database: DatabaseName;
  readonly seed: number;
  readonly steps: number;
  readonly features: Features;
  /** Called after each model. */
  readonly progress?: (steps: number) => void;
}

/** Scenarios per model, and steps per scenario: a model costs a start, a scenario its rows. */
const SCENARIOS = 12;
const STEPS = 50;

export interface Found {
  /** The model's seed; it alone reproduces the finding. */
  readonly seed: number;
  readonly scenario: Scenario;
  readonly finding: Finding;
}

const featuresFor = (database: DatabaseName, features: Features): Features =>
  new Set([...features].filter((one) => database !== "memory" || !SQL_FEATURES.includes(one)));

/** An app with its own database. */
export async function withApp<T>(
  databases: Databases,
  model: Model,
  features: Features,
  work: (app: OracleApp, database: Database) => Promise<T>,
): Promise<T> {
  const database = await databases.open(model);
  let app: OracleApp | undefined;
  try {
    app = await buildApp(model, database.driver, features);
    await database.compute?.();
    return await work(app, database);
  } finally {
    await app?.api.close();
    await database.close();
  }
}

/** Runs the requested number of steps, or stops after `most` models with findings. */
export async function explore(
  options: Options,
  most = 1,
): Promise<{ readonly steps: number; readonly found: readonly Found[] }> {
  const { database: name } = options;
  const features = featuresFor(name, options.features);
  const databases = await openDatabases(name);
  let steps = 0;
  const all: Found[] = [];
  try {
    for (let seed = options.seed; steps < options.steps; seed += 1) {
      const random = createRandom(seed);
      const model = makeModel(random, features);
      const found = await withApp(databases, model, features, async (app, database) => {
        for (let at = 0; at < SCENARIOS && steps < options.steps; at += 1) {
          const data = makeData(random, model);
          const ran = await runScenario(app, database, model, data, (world, count) =>
            count < STEPS ? makeStep(random, features, model, world, count) : undefined,
          );
          steps += ran.steps.length;
          if (ran.finding) return { seed, scenario: { model, data, steps: ran.steps }, finding: ran.finding };
        }
        return undefined;
      });
      if (found !== undefined && all.push(found) === most) break;
      options.progress?.(steps);
    }
    return { steps, found: all };
  } finally {
    await databases.close();
  }
}
