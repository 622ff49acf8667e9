/** Upserts and batches (guides/writing.md): the same as single requests, each under its own rules. */
import type { BatchItem, Call, EntityModel, Input, JsonObject } from "../model.ts";
import { entityOf } from "../model.ts";
import { nestedCreate, nestedUpdate, nests } from "./nested.ts";
import { INVALID, type Outcome, refused, type Setting } from "./outcome.ts";
import { passes, reachOf } from "./rules.ts";
import { isKeyOf, listed } from "./shown.ts";
import { rowOf, rowsOf } from "./world.ts";
import { create, remove, update } from "./writes.ts";

type Of<D extends Call["do"]> = Extract<Call, { do: D }>;
type Ids = () => string;

/** Updates the record that has the key, among those in a list of the caller, or creates it. */
export function upsert(setting: Setting, { on, data, include }: Of<"upsert">, ids: Ids): Outcome[] {
  const { entity, by, world } = setting;
  const mayUpdate = reachOf(entity, entity.rules.update, by, "stored") !== "none";
  if (!mayUpdate && reachOf(entity, entity.rules.create, by, "create") === "none") return [refused(by)];
  const [key = ""] = on;
  const isKey = on.length === 1 && isKeyOf(entity, key, by);
  const value = data[key] ?? null;
  const wrong = isKey && typeof value === "string" ? [] : [INVALID];
  if (reachOf(entity, entity.rules.read, by, "list") === "none") return [refused(by), ...wrong];
  if (wrong.length > 0) return wrong;
  const [row] = rowsOf(world, entity.name).filter((one) => one[key] === value && listed(setting, entity, one));
  const also = include === undefined ? {} : { include };
  return row === undefined
    ? created(setting, { do: "create", data, ...also }, ids)
    : updated(setting, { do: "update", id: row.id as string, data, ...also }, ids);
}

export const created = (setting: Setting, call: Of<"create">, ids: Ids): Outcome[] =>
  nests(setting.entity, call.data) ? nestedCreate(setting, call, ids) : create(setting, call.data, ids(), call.include);

export const updated = (setting: Setting, call: Of<"update">, ids: Ids): Outcome[] =>
  nests(setting.entity, call.data) ? nestedUpdate(setting, call, ids) : update(setting, call);

/** One item after the other, each in the world that the earlier items leave; the first failure ends all of them. */
export function batch(setting: Setting, { items }: Of<"batch">, ids: Ids): Outcome[] {
  let { world } = setting;
  const answers: { status: number; body: unknown }[] = [];
  /** Bodies that items refer to; the id is known where the rest is not. */
  const known: { body: unknown }[] = [];
  const either: Outcome[] = [];
  for (const item of items) {
    const call = resolved(item.call, known);
    if (call === undefined) return [INVALID, ...either];
    const outcomes = itemEnds({ ...setting, world, entity: entityOf(setting.model, item.on) }, call, item, ids);
    const failures = outcomes.filter(({ status }) => status >= 400);
    const done = outcomes.find(({ status }) => status < 300);
    if (done === undefined) return [...failures, ...either];
    either.push(...failures);
    world = done.world ?? world;
    answers.push({ status: done.status, body: done.body });
    known.push({ body: done.body ?? ("id" in call ? { id: call.id } : undefined) });
  }
  const isKnown = answers.every(({ status, body }) => status === 204 || body !== undefined);
  return [{ status: 200, body: isKnown ? answers : undefined, world }, ...either];
}

function itemEnds(setting: Setting, call: BatchItem["call"], { ifMatch }: BatchItem, ids: Ids): Outcome[] {
  const outcomes = endsOf(setting, call, ids);
  const { model, world, entity, by } = setting;
  // A record without a version has no matching ETag; no ETag matches a record that the caller may not read.
  const row = "id" in call ? rowOf(world, entity.name, call.id) : undefined;
  const reads = row !== undefined && passes(model, world, entity, row, entity.rules.read, by, "stored");
  if (ifMatch === undefined || (ifMatch === "*" && reads) || call.do === "create" || call.do === "upsert")
    return outcomes;
  return [{ status: 412 }, ...outcomes.filter(({ status }) => status >= 400)];
}

function endsOf(setting: Setting, call: BatchItem["call"], ids: Ids): Outcome[] {
  if (call.do === "create") return created(setting, call, ids);
  if (call.do === "update") return updated(setting, call, ids);
  return call.do === "delete" ? remove(setting, call) : upsert(setting, call, ids);
}

const REFERENCE = /^\$(\d+)\.(\w+)$/;

/** A call with values of earlier responses; undefined if there is no such value. */
function resolved(call: BatchItem["call"], answers: readonly { body: unknown }[]): BatchItem["call"] | undefined {
  let isFound = true;
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolve(inner)]));
    const [, index, name] = (typeof value === "string" && REFERENCE.exec(value)) || [];
    if (index === undefined || name === undefined) return value;
    const found = (answers[Number(index)]?.body as JsonObject | undefined)?.[name];
    if (found === undefined || (typeof found === "object" && found !== null)) isFound = false;
    return found;
  };
  const next: BatchItem["call"] = {
    ...call,
    ...("data" in call && { data: resolve(call.data) as Input }),
    ...("id" in call && { id: String(resolve(call.id)) }),
  };
  return isFound ? next : undefined;
}

/** A unique field of an entity, which identifies records. */
export const uniqueFields = (entity: EntityModel): readonly string[] =>
  entity.fields.filter(({ unique }) => unique).map(({ name }) => name);
