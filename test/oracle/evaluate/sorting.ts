/** Orders and selections (http.md, “List queries”). */
import type { EntityModel, Principal, Row, Scalar } from "../model.ts";
import { keyOf, keysOf } from "../model.ts";
import { ordered } from "./filters.ts";
import { readableReach } from "./shown.ts";

/** null is the smallest value, and `id` breaks ties. */
export function order(entity: EntityModel, sort: readonly string[]): (a: Row, b: Row) => number {
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
      const field = entity.fields.find((one) => one.name === key);
      const by = less(ordered(field, a[key] ?? null), ordered(field, b[key] ?? null)) * sign;
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

export const isSelectable = (entity: EntityModel, name: string, by: Principal): boolean => {
  if (name === "id" || keysOf(entity).some((one) => keyOf(one) === name)) return true;
  const field = entity.fields.find((one) => one.name === name);
  return field !== undefined && readableReach(entity, field, by) !== "none";
};
