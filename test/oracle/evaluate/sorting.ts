/** Orders and selections (http.md, “List queries”). */
import type { EntityModel, FieldModel, Principal, RelationModel, Row, Scalar } from "../model.ts";
import { entityOf, keyOf, keysOf } from "../model.ts";
import { ordered } from "./filters.ts";
import { reachOf } from "./rules.ts";
import { listed, readableReach, type View } from "./shown.ts";
import { rowOf } from "./world.ts";

/** The belongsTo relation at the beginning of a path, and the rest of the path. */
function stepOf(entity: EntityModel, path: string): readonly [RelationModel | undefined, string] {
  const [name = "", ...rest] = path.split(".");
  return [keysOf(entity).find((one) => one.name === name), rest.join(".")];
}

/** The field and the value that a path leads to, through records that the caller may read. */
function valueAt(view: View, entity: EntityModel, row: Row, path: string): readonly [FieldModel | undefined, Scalar] {
  if (!path.includes(".")) return [entity.fields.find((one) => one.name === path), row[path] ?? null];
  const [relation, rest] = stepOf(entity, path);
  const target = entityOf(view.model, (relation as RelationModel).target);
  const next = rowOf(view.world, target.name, row[keyOf(relation as RelationModel)] ?? null);
  if (next === undefined || !listed(view, target, next)) return [undefined, null];
  return valueAt(view, target, next, rest);
}

/** null is the smallest value, and `id` breaks ties. A record that the caller may not read counts as missing. */
export function order(view: View, entity: EntityModel, sort: readonly string[]): (a: Row, b: Row) => number {
  const less = (a: Scalar, b: Scalar): number => {
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? -1 : 1;
    return a < b ? -1 : 1;
  };
  const keys = [...sort, "id"].map((key) =>
    key.startsWith("-") ? ([key.slice(1), -1] as const) : ([key, 1] as const),
  );
  return (a, b) => {
    for (const [key, sign] of keys) {
      const by = less(ordered(...valueAt(view, entity, a, key)), ordered(...valueAt(view, entity, b, key))) * sign;
      if (by !== 0) return by;
    }
    return 0;
  };
}

export const isSortable = (entity: EntityModel, name: string, by: Principal): boolean => {
  if (name === "id" || keysOf(entity).some((one) => keyOf(one) === name)) return true;
  const field = entity.fields.find((one) => one.name === name);
  return field !== undefined && field.encrypted === undefined && readableReach(entity, field, by) === "all";
};

/** The same for a path through records that the caller may list; it may follow at most three relations. */
export function isSortablePath(view: View, entity: EntityModel, path: string, steps = 0): boolean {
  if (!path.includes(".")) return steps <= 3 && isSortable(entity, path, view.by);
  const [relation, rest] = stepOf(entity, path);
  if (relation === undefined) return false;
  const target = entityOf(view.model, relation.target);
  if (reachOf(target, target.rules.read, view.by, "list") === "none") return false;
  return isSortablePath(view, target, rest, steps + 1);
}

export const isSelectable = (entity: EntityModel, name: string, by: Principal): boolean => {
  if (name === "id" || keysOf(entity).some((one) => keyOf(one) === name)) return true;
  const field = entity.fields.find((one) => one.name === name);
  return field !== undefined && readableReach(entity, field, by) !== "none";
};
