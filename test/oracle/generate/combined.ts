/** Random upserts and batches. */
import { uniqueFields } from "../evaluate/combined.ts";
import { evaluate } from "../evaluate/evaluate.ts";
import { rowsOf } from "../evaluate/world.ts";
import { type BatchItem, type Call, type Input, keyOf, keysOf, type Step } from "../model.ts";
import { type Making, principalsOf, someId } from "./making.ts";
import { nestedInput, succeeds } from "./nested.ts";
import { inputOf, pathsOf } from "./parts.ts";

type Upsert = Extract<Call, { do: "upsert" }>;
const TRIES = 8;

function upsertOf(making: Making): Upsert {
  const { random, world, entity, features } = making;
  const keys = uniqueFields(entity);
  const key = keys.length > 0 && random.chance(0.97) ? random.pick(keys) : random.pick(entity.fields).name;
  const rows = rowsOf(world, entity.name);
  const row = rows.length > 0 && random.chance(0.6) ? random.pick(rows) : undefined;
  const nests = features.has("nested") && random.chance(0.25);
  const data = nests
    ? nestedInput(making, row === undefined, row?.id as string | undefined)
    : inputOf(making, random.chance(0.7));
  const include = random.chance(0.15) ? pathsOf(making, entity, 2) : [];
  return {
    do: "upsert",
    on: random.chance(0.01) ? [key, "id"] : [key],
    data: { ...data, ...(row !== undefined && random.chance(0.97) && { [key]: row[key] ?? null }) },
    ...(include.length > 0 && { include }),
  };
}

export function upsertStep(making: Making, uid: string): Step {
  const { random, model } = making;
  const possible = model.entities.filter((one) => uniqueFields(one).length > 0);
  for (let tries = 1; ; tries += 1) {
    const entity = random.pick(possible.length > 0 && random.chance(0.98) ? possible : model.entities);
    const there = { ...making, entity, by: random.pick(principalsOf(making.features)) };
    const call = upsertOf(there);
    const isClient = call.include === undefined && random.chance(0.3);
    const surface = isClient ? (there.by === null ? "handler" : "client") : "http";
    const step: Step = { uid, by: there.by, on: entity.name, surface, call };
    if (tries === TRIES || random.chance(0.1) || succeeds(making, step)) return step;
  }
}

/** Items that succeed one after the other, and sometimes one that fails. */
export function batchStep(making: Making, uid: string): Step {
  const { random } = making;
  const by = random.pick(principalsOf(making.features));
  const on = making.entity.name;
  const isTransaction = by !== null && random.chance(0.25);
  const stepOf = (items: readonly BatchItem[]): Step => ({
    uid,
    by,
    on,
    surface: isTransaction ? "client" : "http",
    call: { do: "batch", items },
  });
  // In-process calls in one transaction have no references, and do not report whether an upsert created a record.
  const next = (from: Making, before: readonly BatchItem[]): BatchItem | undefined => {
    const item = itemOf({ ...from, entity: random.pick(making.model.entities) }, isTransaction ? [] : before);
    return isTransaction && (item.call.do === "upsert" || item.ifMatch !== undefined) ? undefined : item;
  };
  let there: Making = { ...making, by };
  const items: BatchItem[] = [];
  const many = 1 + random.below(4);
  for (let tries = 0; tries < TRIES && items.length < many; tries += 1) {
    const item = next(there, items);
    if (item === undefined) continue;
    const [outcome] = evaluate(making.model, making.world, stepOf([...items, item]));
    if (outcome === undefined || outcome.status >= 300 || outcome.world === undefined) continue;
    items.push(item);
    there = { ...there, world: outcome.world };
  }
  const last = items.length === 0 || random.chance(0.2) ? next(there, items) : undefined;
  return stepOf(last === undefined ? items : [...items, last]);
}

function itemOf(making: Making, before: readonly BatchItem[]): BatchItem {
  const { random, entity } = making;
  const on = entity.name;
  const earlier = (name: string): string | undefined => {
    const at = before.findIndex((one) => one.on === name && one.call.do !== "delete");
    return at === -1 ? undefined : `$${at}.id`;
  };
  const id = (random.chance(0.3) ? earlier(on) : undefined) ?? someId(making, on);
  const body = (creates: boolean): Input => {
    const nests = making.features.has("nested") && random.chance(0.15);
    const data: Record<string, Input[string]> = {
      ...(nests ? nestedInput(making, creates, creates ? undefined : id) : inputOf(making, creates)),
    };
    for (const key of keysOf(entity)) {
      const reference = earlier(key.target);
      if (reference !== undefined && data[key.name] === undefined && random.chance(0.4)) data[keyOf(key)] = reference;
    }
    if (before.length > 0 && random.chance(0.05)) data.name = random.pick(["$0.name", "$0.team", "$9.id"]);
    return data;
  };
  const ifMatch = random.chance(0.06) ? { ifMatch: random.pick(["*", '"1"']) } : {};
  const roll = random.below(10);
  if (roll < 4) return { on, call: { do: "create", data: body(true) } };
  if (roll < 7) return { on, call: { do: "update", id, data: body(false) }, ...ifMatch };
  if (roll < 9 || uniqueFields(entity).length === 0) return { on, call: { do: "delete", id }, ...ifMatch };
  return { on, call: upsertOf(making) };
}
