/** Query strings of lists, counts and exports (http.md, “List queries”): which are refused, and what they find. */
import type { EntityModel, ListQuery, Model, Principal, Row, Scalar } from "../model.ts";
import { keyOf, keysOf } from "../model.ts";
import { compare } from "./conditions.ts";
import { filterTests, type Test } from "./filters.ts";
import { passes } from "./rules.ts";
import { filterable, includes, readableReach, showsField, treeOf, type View } from "./shown.ts";
import { treeTest } from "./trees.ts";
import { isLive, rowsOf } from "./world.ts";

function searchTest(view: View, entity: EntityModel, text: string): Test {
  const fields = entity.fields.filter(
    (field) => field.kind === "string" && field.encrypted === undefined && filterable(entity, field, view.by),
  );
  return (row) =>
    fields.some((field) => showsField(view, entity, field, row) && compare(row[field.name] ?? null, "like", text));
}

/** null is the smallest value, and `id` breaks ties. */
function order(sort: readonly string[]): (a: Row, b: Row) => number {
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
      const by = less(a[key] ?? null, b[key] ?? null) * sign;
      if (by !== 0) return by;
    }
    return 0;
  };
}

const isSortable = (entity: EntityModel, name: string, by: Principal): boolean => {
  if (name === "id" || keysOf(entity).some((one) => keyOf(one) === name)) return true;
  const field = entity.fields.find((one) => one.name === name);
  return field !== undefined && field.encrypted === undefined && readableReach(entity, field, by) === "all";
};

const isSelectable = (entity: EntityModel, name: string, by: Principal): boolean => {
  if (name === "id" || keysOf(entity).some((one) => keyOf(one) === name)) return true;
  const field = entity.fields.find((one) => one.name === name);
  return field !== undefined && readableReach(entity, field, by) !== "none";
};

/** Whether the caller may see deleted records, those that they may restore; undefined when this cannot be asked. */
export function deletedTest(view: View, entity: EntityModel, deleted: ListQuery["deleted"]): Test | undefined {
  if (deleted === undefined) return (row) => isLive(entity, row);
  if (entity.softDelete === undefined) return undefined;
  const restorable: Test = (row) => passes(view.model, view.world, entity, row, entity.rules.update, view.by, "list");
  return deleted === "only"
    ? (row) => !isLive(entity, row) && restorable(row)
    : (row) => isLive(entity, row) || restorable(row);
}

/** What a query finds among the records that the rule lets through; undefined when it is refused. */
export function find(view: View, entity: EntityModel, query: ListQuery): Row[] | undefined {
  const tests = filterTests(view, entity, query.filters ?? []);
  if (query.where !== undefined) tests.push(treeTest(view, entity, query.where));
  if (query.q !== undefined) tests.push(searchTest(view, entity, query.q));
  tests.push(deletedTest(view, entity, query.deleted));
  if (!isShape(view.model, entity, query, view.by)) return undefined;
  if (query.sort?.some((key) => !isSortable(entity, key.replace(/^-/, ""), view.by))) return undefined;
  if (tests.some((test) => test === undefined)) return undefined;
  return rowsOf(view.world, entity.name)
    .filter((row) => passes(view.model, view.world, entity, row, entity.rules.read, view.by, "list"))
    .filter((row) => tests.every((test) => (test as Test)(row)))
    .sort(order(query.sort ?? []));
}

/** Whether `include` and `select` name what there is for this caller. */
export function isShape(model: Model, entity: EntityModel, query: ListQuery, by: Principal): boolean {
  return (
    includes(model, entity, treeOf(query.include)) &&
    (query.select ?? []).every((name) => isSelectable(entity, name, by))
  );
}
