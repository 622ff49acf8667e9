/**
 * The evaluator: the permitted responses of a step, and the contents of the database afterwards. It is slow and simple on
 * purpose, written from the documents, and shares no code with the library.
 */
import type { Model, Step } from "../model.ts";
import { entityOf } from "../model.ts";
import * as actions from "./actions.ts";
import { aggregate } from "./aggregates.ts";
import { withinBytes } from "./bytes.ts";
import * as combined from "./combined.ts";
import { document } from "./documents.ts";
import type { Outcome, Setting } from "./outcome.ts";
import * as reads from "./reads.ts";
import { report } from "./reports.ts";
import { passes } from "./rules.ts";
import type { World } from "./world.ts";
import * as writes from "./writes.ts";

/** The id of the nth record that a step makes. */
export const newId = (step: Step, index = 0): string => `${step.uid}x${String(index + 1).padStart(3, "0")}`;

/** The ids of a step's records, one after the other. */
function idsOf(step: Step): () => string {
  let made = 0;
  return () => newId(step, made++);
}

const ACTIONS = ["exists", "clone", "toggle", "archive", "unarchive", "softDelete", "restore"];

/**
 * If no rule can pass, an action of an entity that hides forbidden records responds with 403, the same for every id; so
 * does a request with an idempotency key.
 */
function withPlainRefusal({ entity, by }: Setting, step: Step, outcomes: Outcome[]): Outcome[] {
  const isAction = ACTIONS.includes(step.call.do) || step.again !== undefined;
  return by !== null && entity.hideForbidden && isAction && outcomes.some(({ status }) => status === 404)
    ? [...outcomes, { status: 403 }]
    : outcomes;
}

/** The permitted ends of a step; the first is the one that the documents describe most directly. */
export function evaluate(model: Model, world: World, step: Step): Outcome[] {
  const inProcess = (step.surface === "client" || step.surface === "handler") && { inProcess: true as const };
  const setting: Setting = { model, world, entity: entityOf(model, step.on), by: step.by, ...inProcess };
  const outcomes = withinBytes(model, step, withPlainRefusal(setting, step, ends(setting, step)));
  return step.surface === "steps" ? ofSteps(setting, step, outcomes) : outcomes;
}

/**
 * Workflow steps find “the one record that matches”; a record out of reach may count as missing. They do not delete a
 * record whose deletion deletes or changes others, because that could not be compensated.
 */
function ofSteps({ model, world, entity, by }: Setting, { call, match }: Step, outcomes: Outcome[]): Outcome[] {
  const refusals = outcomes.filter(({ status }) => status === 403 || status === 401);
  const row = "id" in call ? world.rows.get(entity.name)?.get(call.id ?? "") : undefined;
  if (match !== undefined) {
    // A record is searched for like in a list, where rules that look at each record find nothing.
    const rules = entity.rules[call.do === "update" ? "update" : "delete"];
    const finds = row !== undefined && passes(model, world, entity, row, rules, by, "list");
    const isMet = Object.entries(match).every(([name, value]) => row?.[name] === value);
    // It may have been found before it changed, and pass another rule now.
    if (!finds) return [{ status: 404 }, { status: 403 }, { status: 401 }, ...(isMet ? outcomes : [])];
    if (!isMet) {
      // The step's data may be validated before its condition is checked again.
      return [{ status: 404 }, ...outcomes.filter(({ status }) => status >= 400)];
    }
  }
  const isRefused = refusals.length > 0;
  if (isRefused && call.do === "update") return [...outcomes, { status: 404 }];
  if (call.do !== "delete") return outcomes;
  const [{ world: after }] = outcomes as [Outcome];
  if (after === undefined) return outcomes;
  const others = [...world.rows].some(([name, table]) =>
    [...table].some(([id, row]) => !(name === entity.name && id === call.id) && after.rows.get(name)?.get(id) !== row),
  );
  return others ? [{ status: 409 }] : outcomes;
}

function ends(setting: Setting, step: Step): Outcome[] {
  const { call } = step;
  switch (call.do) {
    case "get":
      return reads.get(setting, call);
    case "list":
      return reads.list(setting, call);
    case "walk":
      return reads.walk(setting, call);
    case "count":
      return reads.count(setting, call);
    case "aggregate":
      return aggregate(setting, call);
    case "exists":
      return reads.exists(setting, call);
    case "export":
      return reads.exported(setting, call);
    case "create":
      return combined.created(setting, call, idsOf(step));
    case "update":
      return combined.updated(setting, call, idsOf(step));
    case "upsert":
      return combined.upsert(setting, call, idsOf(step));
    case "batch":
      return combined.batch(setting, call, idsOf(step));
    case "delete":
      return writes.remove(setting, call);
    case "bulkUpdate":
      return actions.bulkUpdate(setting, call);
    case "bulkDelete":
      return actions.bulkDelete(setting, call);
    case "import":
      return actions.imported(setting, call, (index) => newId(step, index));
    case "clone":
      // A copy without a reference that became hidden while it waited is a second create, with a second id.
      return [0, ...(step.waitsFor === undefined ? [] : [1])].flatMap((index) =>
        actions.clone(setting, call, newId(step, index)),
      );
    case "toggle":
      return actions.toggle(setting, call);
    case "archive":
    case "unarchive":
      return actions.archive(setting, call);
    case "softDelete":
      return actions.softDelete(setting, call);
    case "restore":
      return actions.restore(setting, call);
    case "report":
      return report(setting, call);
    case "document":
      return document(setting, call);
  }
}
