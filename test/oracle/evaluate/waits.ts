/**
 * Where writes wait for each other, what they depend on is decided again after their statement. A write that ends its own
 * right may then be refused.
 */
import {
  type EntityModel,
  entityOf,
  keyOf,
  keysOf,
  type Model,
  type Principal,
  type Row,
  relationOf,
} from "../model.ts";
import { INVALID, type Outcome } from "./outcome.ts";
import { allowed, passes } from "./rules.ts";
import { pairsAt, rowOf, rowsOf, type World } from "./world.ts";

/** The refusals that are permitted besides the decided outcomes. */
export function refusalsAfterWaits(
  model: Model,
  before: World,
  decided: readonly Outcome[],
  by: Principal,
): readonly Outcome[] {
  const after = decided.flatMap(({ world }) => (world === undefined ? [] : [world]));
  return [
    ...(after.some((world) => hidesReferences(model, before, world, by)) ? [INVALID] : []),
    ...(after.some((world) => endsRightsToPairs(model, before, world, by)) ? [{ status: 403 }] : []),
  ];
}

/** Whether a write hides a record that it refers to, or that it adds to a list, from its own caller's lists. */
function hidesReferences(model: Model, before: World, after: World, by: Principal): boolean {
  const isHidden = (target: EntityModel, id: unknown): boolean => {
    const row = rowOf(after, target.name, id);
    return row !== undefined && !passes(model, after, target, row, target.rules.read, by, "list");
  };
  const hidesKeys = model.entities.some((entity) =>
    writtenRows(before, after, entity.name).some((row) =>
      keysOf(entity).some((relation) => isHidden(entityOf(model, relation.target), row[keyOf(relation)])),
    ),
  );
  return hidesKeys || changedEnds(model, before, after).some(({ entity, id }) => isHidden(entity, id));
}

const writtenRows = (before: World, after: World, entity: string): readonly Row[] =>
  rowsOf(after, entity).filter((row) => JSON.stringify(row) !== JSON.stringify(rowOf(before, entity, row.id)));

/** Whether a write ends its own caller's right to change a record whose pairs it changes. That is decided again, too. */
const endsRightsToPairs = (model: Model, before: World, after: World, by: Principal): boolean =>
  changedEnds(model, before, after).some(({ entity, id }) => {
    const row = rowOf(after, entity.name, id);
    return row !== undefined && !allowed(model, after, entity, row, "update", by);
  });

/** Both ends of the pairs that a write adds and removes. */
function changedEnds(model: Model, before: World, after: World): { entity: EntityModel; id: string }[] {
  return [...after.pairs.keys()].flatMap((at) => {
    const [name = "", relation = ""] = at.split(".");
    const source = entityOf(model, name);
    const target = entityOf(model, relationOf(source, relation)?.target ?? name);
    const [old, now] = [pairsAt(before, at), pairsAt(after, at)];
    const changed = [...[...old].filter((pair) => !now.has(pair)), ...[...now].filter((pair) => !old.has(pair))];
    return changed.flatMap((pair) => pair.split("|").map((id, side) => ({ entity: side === 0 ? source : target, id })));
  });
}
