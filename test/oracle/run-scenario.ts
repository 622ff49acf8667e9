/** Runs a scenario from its first row to its last step, or to the first step with a wrong result. */
import type { OracleApp } from "./build-app.ts";
import { dataOfOtherTenant, isShared, OTHER_TENANT, OWN_TENANT, textsOf, withoutOthers } from "./companions.ts";
import { answers, difference } from "./compare.ts";
import { type Database, inOrder } from "./database.ts";
import { evaluate } from "./evaluate/evaluate.ts";
import type { Outcome } from "./evaluate/outcome.ts";
import { afterMeanwhile, endsBefore, replayed } from "./evaluate/races.ts";
import { refusalsAfterWaits } from "./evaluate/waits.ts";
import { rowOf, type World, worldOf } from "./evaluate/world.ts";
import {
  type Data,
  type EntityModel,
  entityOf,
  type Input,
  type Meanwhile,
  type Model,
  type Principal,
  type Row,
  type Step,
} from "./model.ts";
import { type Observed, perform, seed } from "./perform.ts";

/** A step whose result contradicts the documents. */
export interface Finding {
  readonly step: Step;
  readonly expected: string;
  readonly got: string;
}

const READS = ["get", "list", "walk", "count", "aggregate", "exists", "export", "report", "document"];

/** Stores the data of a scenario in an empty database. */
export async function prepare(app: OracleApp, database: Database, model: Model, data: Data): Promise<void> {
  await database.empty();
  app.interruption.run = undefined;
  app.scenarios += 1;
  const store = async (by: Principal, all: Data): Promise<void> => {
    for (const { entity, rows, later } of inOrder(model, all)) await seed(app, by, entity, rows, later);
    for (const [at, pairs] of Object.entries(all.pairs)) {
      const [entity = "", relation = ""] = at.split(".");
      for (const pair of pairs) {
        const [source = "", target = ""] = pair.split("|");
        await app.api.driver.link(entity, relation, source, [target]);
      }
    }
  };
  if (!isShared(model)) return store(null, data);
  await store(OTHER_TENANT, dataOfOtherTenant(model, data));
  app.others = textsOf(await database.read(app.api));
  return store(OWN_TENANT, data);
}

/** The stored data without the other tenant's rows, except those of its rows that changed. */
async function readOwn(app: OracleApp, database: Database): Promise<Data> {
  const stored = await database.read(app.api);
  return app.others.size === 0 ? stored : withoutOthers(stored, app.others);
}

/** Chooses the next step in the world after the earlier steps; undefined at the end. */
export type NextStep = (world: World, at: number) => Step | undefined;

/** Runs steps until the end, or until one has a wrong result. */
export async function runScenario(
  app: OracleApp,
  database: Database,
  model: Model,
  data: Data,
  next: NextStep,
): Promise<{ steps: readonly Step[]; finding?: Finding }> {
  await prepare(app, database, model, data);
  let world = worldOf(model, data);
  const steps: Step[] = [];
  let refused: Step | undefined;
  for (let step = next(world, 0); step !== undefined; step = next(world, steps.length)) {
    steps.push(step);
    const result = await runStep(app, database, model, world, step);
    if ("finding" in result) return { steps, finding: result.finding };
    if (result.reads !== undefined) refused = result.reads === "later" ? step : undefined;
    world = result.world;
  }
  const left = refused && (await difference(model, world, await readOwn(app, database)));
  if (refused === undefined || left === undefined) return { steps };
  return { steps, finding: { step: refused, expected: "nothing is stored by what is refused", got: left } };
}

/**
 * `reads` says when the database is read after a write. Most writes are refused: what they leave, which should be nothing,
 * is read together with the result of the next write.
 */
type Ran = { readonly world: World; readonly reads?: "now" | "later" } | { readonly finding: Finding };

async function runStep(app: OracleApp, database: Database, model: Model, world: World, step: Step): Promise<Ran> {
  app.nameIds(step.uid);
  if (step.again !== undefined) return runReplay(app, database, model, world, step);
  if (step.meanwhile !== undefined) return runRace(app, database, model, world, step, step.meanwhile);
  const entity = entityOf(model, step.on);
  const outcomes = allowedOutcomes(database, model, world, step);
  const got = await perform(app, entity, step);
  const ran = await settle(app, database, model, world, step, outcomes, got);
  return step.unseen === undefined || "finding" in ran
    ? ran
    : askAgain(app, database, ran.world, step, step.unseen, got);
}

function allowedOutcomes(database: Database, model: Model, world: World, step: Step): readonly Outcome[] {
  const decided = evaluate(model, world, step);
  const isConcurrent = database.whileLocked !== undefined;
  return isConcurrent ? [...decided, ...refusalsAfterWaits(model, world, decided, step.by)] : decided;
}

/** A field that the caller may not read has changed: the response must stay the same, even if the evaluator permits others. */
async function askAgain(
  app: OracleApp,
  database: Database,
  world: World,
  step: Step,
  change: Meanwhile,
  first: Observed,
): Promise<Ran> {
  await database.change(app.api, [change]);
  const second = await perform(app, entityOf(app.model, step.on), step);
  const [before, after] = [first, second].map(({ status, body, total, pages }) =>
    JSON.stringify({ status, body, total, pages })
      .replace(/"requestId":"[^"]*"/, "")
      // Relations are included in parallel: which of them exceeds the limit first depends on the database.
      .replace(/Including .* bytes; [^"]*/, ""),
  );
  if (before !== after) return { finding: { step, expected: `${before}, as before the change`, got: String(after) } };
  return { world: afterMeanwhile(app.model, world, [change]) };
}

/** Finds the permitted end that matches the step's result, and compares the stored data with it. */
async function settle(
  app: OracleApp,
  database: Database,
  model: Model,
  world: World,
  step: Step,
  outcomes: readonly Outcome[],
  got: Observed,
): Promise<Ran> {
  const fitting = outcomes.filter((one) => answers(step, one, got));
  if (fitting.length === 0) return { finding: { step, ...toldApart(step, outcomes, got) } };
  if (READS.includes(step.call.do)) return { world };
  if (got.status >= 400 && fitting.every((one) => one.world === undefined)) return { world, reads: "later" };
  const stored = await readOwn(app, database);
  let wrong: string | undefined;
  for (const outcome of fitting) {
    const after = named(outcome.world ?? world, world, step, stored);
    const differs = await difference(model, after, stored);
    if (differs === undefined) return { world: after, reads: "now" };
    wrong ??= differs;
  }
  return {
    finding: {
      step,
      expected: `${told(outcomes)}, and the database as it says`,
      got: `${got.status} ${JSON.stringify(got.body)}; ${wrong}`,
    },
  };
}

/** Rows of an import get ids in order; which ids depends on how many were created for refused rows. */
function named(after: World, before: World, { call, on }: Step, stored: Data): World {
  if (call.do !== "import") return after;
  const [old, table] = [before.rows.get(on), after.rows.get(on)];
  const made = (stored.rows[on] ?? []).map(({ id }) => id as string).filter((id) => !old?.has(id));
  made.sort();
  let at = 0;
  const rows = [...(table ?? [])].map(([id, row]) => {
    const name = old?.has(id) ? id : (made[at++] ?? id);
    return [name, { ...row, id: name }] as const;
  });
  return { rows: new Map(after.rows).set(on, new Map(rows)), pairs: after.pairs };
}

const told = (outcomes: readonly Outcome[]): string =>
  outcomes
    .map(({ status, body, total }) =>
      [status, body === undefined ? "" : JSON.stringify(body), total === undefined ? "" : `(${total} in all)`]
        .join(" ")
        .trim(),
    )
    .join("  or  ");

/** For documents, which are long: the lines that only one of the two lists has. */
function toldApart({ call }: Step, outcomes: readonly Outcome[], got: Observed): { expected: string; got: string } {
  const [expected, routes] = [outcomes[0]?.body, got.body] as [readonly string[], readonly string[]];
  if (call.do !== "document" || got.status !== 200) return { expected: told(outcomes), got: JSON.stringify(got) };
  const only = (list: readonly string[], other: readonly string[]): string =>
    JSON.stringify(list.filter((one) => !other.includes(one)));
  return { expected: `besides ${only(expected, routes)}`, got: `besides ${only(routes, expected)}` };
}

/** A write with concurrent changes: the decision must be based on their result. */
async function runRace(
  app: OracleApp,
  database: Database,
  model: Model,
  world: World,
  step: Step,
  changes: readonly Meanwhile[],
): Promise<Ran> {
  const changed = afterMeanwhile(model, world, changes);
  const before = evaluate(model, world, step);
  const { when, got } = await raced(app, database, model, world, step, changes);
  const decided =
    step.waitsFor === undefined ? evaluate(model, changed, step) : allowedOutcomes(database, model, changed, step);
  // A record that leaves the caller's reach during the write gives 403; for anonymous callers, 401 is possible too.
  const lost = step.by === null && decided.some(({ status }) => status === 401) ? [{ status: 403 }] : [];
  // A refusal that was correct before the change writes nothing, so it is also permitted after the change.
  const between = [...decided, ...lost, ...before.filter(({ status }) => status >= 400)];
  const after = before.flatMap((one) =>
    endsBefore(model, step, one, afterMeanwhile(model, one.world ?? world, changes)),
  );
  const outcomes = { between, after, either: [...between, ...after] }[when];
  return settle(app, database, model, changed, step, outcomes, got);
}

/** When the changes were made: during the write, after the write, or at an unknown time. */
type When = "between" | "after" | "either";

/** Makes the changes while the write waits: for the lock of its row, or for a rule that reads the record. */
async function raced(
  app: OracleApp,
  database: Database,
  model: Model,
  world: World,
  step: Step,
  changes: readonly Meanwhile[],
): Promise<{ when: When; got: Observed }> {
  const entity = entityOf(model, step.on);
  const { call } = step;
  if (step.waitsFor !== undefined && database.whileLocked === undefined) {
    await database.change(app.api, changes);
    return { when: "between", got: await perform(app, entity, step) };
  }
  const { entity: at, id } = step.waitsFor ?? { entity: entity.name, id: "id" in call ? call.id : undefined };
  if (id === undefined) throw new TypeError("a race is about a record");
  if (database.whileLocked !== undefined) {
    let start = (): void => {};
    const work = new Promise<void>((resolve) => {
      start = resolve;
    }).then(() => perform(app, entity, step));
    const waited = await database.whileLocked(at, id, work, start, changes);
    return { when: waited ? "between" : "after", got: await work };
  }
  let when: When = "after";
  let change: Promise<void> | undefined;
  // Rules read a record before it is written, and once more afterwards: the row shows which of the two it is.
  const row = rowOf(world, at, id) ?? {};
  const isSame = (data: Input, stored: Row): boolean => Object.entries(data).every(([name, to]) => stored[name] === to);
  const make = async (): Promise<void> => {
    const stored = ((await app.api.driver.findOne(at, { id })) ?? {}) as Row;
    await database.change(app.api, changes);
    if (call.do !== "update") when = "id" in stored ? "between" : "after";
    else if (isSame(call.data, row) || isProtected(entity, call.data)) when = "either";
    else when = isSame(call.data, stored) ? "after" : "between";
  };
  app.interruption.run = async () => {
    app.interruption.run = undefined;
    change = make();
    // If transactions wait for each other, the change has to wait until the write is over.
    await Promise.race([change, new Promise((resolve) => setTimeout(resolve, 20))]);
    if (when === "after") isLate = true;
  };
  let isLate = false;
  const got = await perform(app, entity, step);
  app.interruption.run = undefined;
  await (change ?? database.change(app.api, changes));
  return { when: isLate ? "after" : when, got };
}

/** Whether these stored values cannot be compared, or not every caller may write them. */
const isProtected = (entity: EntityModel, data: Input): boolean =>
  entity.fields.some((one) => one.name in data && (one.encrypted !== undefined || one.writable !== undefined));

/** The same request with the same key, from the same user with other rights. */
async function runReplay(app: OracleApp, database: Database, model: Model, world: World, step: Step): Promise<Ran> {
  const entity = entityOf(model, step.on);
  const outcomes = allowedOutcomes(database, model, world, step);
  const first = await perform(app, entity, step);
  const settled = await settle(app, database, model, world, step, outcomes, first);
  if ("finding" in settled) return settled;
  const changed = afterMeanwhile(model, settled.world, step.meanwhile ?? []);
  if (step.meanwhile !== undefined) await database.change(app.api, step.meanwhile);
  app.nameIds(`${step.uid}r`);
  const second = await perform(app, entity, step, step.again);
  const uid = `${step.uid}r`;
  const expected =
    first.status < 300
      ? replayed(model, changed, step, first)
      : allowedOutcomes(database, model, changed, { ...step, by: step.again ?? step.by, uid }); // its key is forgotten
  return settle(app, database, model, changed, step, expected, second);
}
