/** Concurrent changes during a step, and the response to a repeated request. */
import type { EntityModel, Meanwhile, Model, Principal, Row, Step } from "../model.ts";
import { entityOf, relationOf, withComputed } from "../model.ts";
import type { Outcome } from "./outcome.ts";
import { allowed, passes, reachOf } from "./rules.ts";
import { readableReach } from "./shown.ts";
import { rowOf, type World, withoutRow, withPairs, withRow } from "./world.ts";
import { answer } from "./writes.ts";

export function afterMeanwhile(model: Model, world: World, changes: readonly Meanwhile[]): World {
  let next = world;
  for (const one of changes) {
    if ("set" in one) {
      const row = rowOf(next, one.set, one.id);
      if (row !== undefined)
        next = withRow(next, one.set, withComputed(entityOf(model, one.set), { ...row, ...one.to }));
    } else if ("remove" in one) next = withoutRow(model, next, one.remove, one.id) ?? next;
    else {
      const pairs = new Set(next.pairs.get(one.unpair));
      pairs.delete(one.pair);
      next = withPairs(next, one.unpair, pairs);
    }
  }
  return next;
}

/** A write that finished before the changes may return its record as it is after them (ADR 51). */
export function endsBefore(model: Model, { on, by, call }: Step, one: Outcome, world: World): Outcome[] {
  const entity = entityOf(model, on);
  const id = one.status < 300 ? (one.body as { id?: string } | undefined)?.id : undefined;
  if (id === undefined || rowOf(world, on, id) === undefined) return [{ ...one, world }];
  const include = "include" in call ? call.include : undefined;
  return [{ ...one, world }, answer({ model, world, entity, by }, world, id, one.status, include)];
}

/** What a caller may see of an entity, on any record. */
const rights = (entity: EntityModel, by: Principal): string =>
  JSON.stringify([
    reachOf(entity, entity.rules.read, by, "stored"),
    reachOf(entity, entity.rules.read, by, "list"),
    entity.fields.map((field) => readableReach(entity, field, by)),
  ]);

/** The records in a response, root and included: entity and id of each. */
function met(model: Model, entity: EntityModel, body: unknown): [EntityModel, string][] {
  if (typeof body !== "object" || body === null) return [];
  const own: [EntityModel, string][] = Object.keys(body).length > 1 ? [[entity, (body as Row).id as string]] : [];
  const related = Object.entries(body).flatMap(([name, value]) => {
    const relation = relationOf(entity, name);
    if (relation === undefined) return [];
    const target = entityOf(model, relation.target);
    return (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => met(model, target, one));
  });
  return [...own, ...related];
}

/**
 * retries.md, “Whose keys”: a response is repeated if the rules allow the request again, for an update on its record. A
 * caller who may now read other fields, or the records of other owners, of the response's entities gets 403. It is
 * repeated only while the caller may read each record that it shows.
 * @param first the response to the first request, which has succeeded
 */
export function replayed(model: Model, world: World, step: Step, first: { status: number; body: unknown }): Outcome[] {
  const again = step.again as Principal;
  const entity = entityOf(model, step.on);
  const refusals: Outcome[] = [401, 403, 404].map((status) => ({ status }));
  const access = step.call.do === "create" ? "create" : "update";
  if (reachOf(entity, entity.rules[access], again, access === "create" ? "create" : "stored") === "none")
    return refusals;
  // An update that ended its own right is still repeated.
  const target = step.call.do === "update" ? rowOf(world, step.on, step.call.id) : undefined;
  const may = (by: Principal): boolean => target === undefined || allowed(model, world, entity, target, "update", by);
  if (may(step.by) && !may(again)) return refusals;
  const records = met(model, entity, first.body);
  if (records.some(([one]) => rights(one, step.by) !== rights(one, again))) return refusals;
  const isLost = ([one, id]: [EntityModel, string]): boolean => {
    const row = rowOf(world, one.name, id);
    return row === undefined || !passes(model, world, one, row, one.rules.read, again, "stored");
  };
  if (records.some(isLost)) return refusals;
  return [{ status: first.status, body: first.body }, ...refusals];
}
