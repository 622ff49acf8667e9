/** Query strings of lists, counts and exports (http.md, “List queries”): which are refused, and what they find. */
import type { EntityModel, ListQuery, Row } from "../model.ts";
import { compare } from "./conditions.ts";
import { filterTests, type Test } from "./filters.ts";
import { includes, isPlainlyRight, treeOf } from "./includes.ts";
import { passes } from "./rules.ts";
import { isSearch, isWordwise, rankOrder, wordsTest } from "./search.ts";
import { filterable, showsField, type View } from "./shown.ts";
import { isSelectable, isSortablePath, order } from "./sorting.ts";
import { treeTest } from "./trees.ts";
import { isLive, rowsOf } from "./world.ts";

function searchTest(view: View, entity: EntityModel, text: string): Test {
  if (isWordwise(entity)) return wordsTest(view, entity, text);
  const fields = entity.fields.filter(
    (field) => field.kind === "string" && field.encrypted === undefined && filterable(entity, field, view.by),
  );
  return (row) =>
    fields.some((field) => showsField(view, entity, field, row) && compare(row[field.name] ?? null, "like", text));
}

/** Whether the caller may see deleted records that they may restore; undefined if the option is refused. */
export function deletedTest(view: View, entity: EntityModel, deleted: ListQuery["deleted"]): Test | undefined {
  if (deleted === undefined) return (row) => isLive(entity, row);
  if (entity.softDelete === undefined) return undefined;
  const restorable: Test = (row) => passes(view.model, view.world, entity, row, entity.rules.update, view.by, "list");
  return deleted === "only"
    ? (row) => !isLive(entity, row) && restorable(row)
    : (row) => isLive(entity, row) || restorable(row);
}

/** What a query finds among the records that the rule allows; undefined when it is refused. */
export function find(view: View, entity: EntityModel, query: ListQuery, isList = false): Row[] | undefined {
  const tests = filterTests(view, entity, query.filters ?? []);
  if (query.where !== undefined) tests.push(treeTest(view, entity, query.where));
  if (isSearch(query)) tests.push(searchTest(view, entity, query.q as string));
  tests.push(deletedTest(view, entity, query.deleted));
  if (!isShape(view, entity, query)) return undefined;
  const isRanked = isList && isSearch(query) && isWordwise(entity);
  const isKey = (name: string): boolean => (isRanked && name === "_rank") || isSortablePath(view, entity, name);
  if (query.sort?.some((key) => !isKey(key.replace(/^-/, "")))) return undefined;
  if (tests.some((test) => test === undefined)) return undefined;
  return rowsOf(view.world, entity.name)
    .filter((row) => passes(view.model, view.world, entity, row, entity.rules.read, view.by, "list"))
    .filter((row) => tests.every((test) => (test as Test)(row)))
    .sort(isRanked ? rankOrder(view, entity, query) : order(view, entity, query.sort ?? []));
}

/** Whether `include` and `select` use only names that exist for this caller. */
export function isShape(view: View, entity: EntityModel, query: ListQuery): boolean {
  return (
    (view.inProcess ? isPlainlyRight : includes)(view, entity, treeOf(query.include)) &&
    (query.select ?? []).every((name) => isSelectable(entity, name, view.by))
  );
}
