/**
 * Where writes wait for each other, what they depend on is decided again after their statement. A write that ends its own
 * right may then be refused.
 */
import { entityOf, keyOf, keysOf, type Model, type Principal, type Row, relationOf } from "../model.ts";
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

/** Whether a write hides a record that it refers to from its own caller's lists. */
function hidesReferences(model: Model, before: World, after: World, by: Principal): boolean {
  return model.entities.some((entity) =>
    writtenRows(before, after, entity.name).some((row) =>
      keysOf(entity).some((relation) => {
        const key = keyOf(relation);
        const target = entityOf(model, relation.target);
        const referred = rowOf(after, target.name, row[key]);
        return referred !== undefined && !passes(model, after, target, referred, target.rules.read, by, "list");
      }),
    ),
  );
}

const writtenRows = (before: World, after: World, entity: string): readonly Row[] =>
  rowsOf(after, entity).filter((row) => JSON.stringify(row) !== JSON.stringify(rowOf(before, entity, row.id)));

/** Whether a write ends its own caller's right to change a record whose pairs it changes. That is decided again, too. */
function endsRightsToPairs(model: Model, before: World, after: World, by: Principal): boolean {
  return [...after.pairs.keys()].some((at) => {
    const [name = "", relation = ""] = at.split(".");
    const source = entityOf(model, name);
    const target = entityOf(model, relationOf(source, relation)?.target ?? name);
    const [old, now] = [pairsAt(before, at), pairsAt(after, at)];
    const changed = [...[...old].filter((pair) => !now.has(pair)), ...[...now].filter((pair) => !old.has(pair))];
    return changed.some((pair) =>
      pair.split("|").some((id, side) => {
        const entity = side === 0 ? source : target;
        const row = rowOf(after, entity.name, id);
        return row !== undefined && !allowed(model, after, entity, row, "update", by);
      }),
    );
  });
}
