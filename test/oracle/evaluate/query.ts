/** Query strings of lists, counts and exports (http.md, “List queries”): which are refused, and what they find. */
import type { Comparison, EntityModel, FieldModel, ListQuery, Model, Principal, Row, Scalar } from "../model.ts";
import { entityOf, keyOf, keysOf, relationOf } from "../model.ts";
import { compare, relatedTo } from "./conditions.ts";
import { passes, reachOf } from "./rules.ts";
import { filterable, includes, listed, readableReach, showsField, treeOf, type View } from "./shown.ts";
import { isLive, rowsOf } from "./world.ts";

const SUFFIXES = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "starts", "null"] as const;
const ORDERED: readonly Comparison[] = ["gt", "gte", "lt", "lte"];
const TEXTUAL: readonly Comparison[] = ["like", "starts"];

interface Asked {
  readonly column: string;
  readonly field: FieldModel | undefined;
  readonly op: Comparison;
  readonly value: Scalar | readonly Scalar[];
}

function split(name: string): [string, Comparison] {
  const at = name.lastIndexOf("_");
  const suffix = name.slice(at + 1) as Comparison;
  return at > 0 && (SUFFIXES as readonly string[]).includes(suffix) ? [name.slice(0, at), suffix] : [name, "eq"];
}

function valueFrom(kind: FieldModel["kind"], text: string): Scalar | undefined {
  if (kind === "string") return text;
  if (kind === "bool") return text === "true" ? true : text === "false" ? false : undefined;
  return /^-?\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** One filter, or undefined when it is refused: an unreadable field exactly like an unknown one. */
function readFilter(entity: EntityModel, by: Principal, name: string, text: string): Asked | undefined {
  const [column, op] = split(name);
  const field = entity.fields.find((one) => one.name === column);
  const isKey = column === "id" || keysOf(entity).some((one) => keyOf(one) === column);
  if (field === undefined ? !isKey : !filterable(entity, field, by)) return undefined;
  const kind = field?.kind ?? "string";
  if (op === "null")
    return text === "true" || text === "false" ? { column, field, op, value: text === "true" } : undefined;
  if (field?.encrypted === "searchable" && op !== "eq" && op !== "in" && op !== "ne" && op !== "nin") return undefined;
  if (TEXTUAL.includes(op) && kind !== "string") return undefined;
  if (ORDERED.includes(op) && kind === "bool") return undefined;
  const texts = op === "in" || op === "nin" ? text.split(",") : [text];
  const values = texts.map((one) => valueFrom(kind, one));
  if (values.some((one) => one === undefined)) return undefined;
  return { column, field, op, value: op === "in" || op === "nin" ? (values as Scalar[]) : (values[0] as Scalar) };
}

type Test = (row: Row) => boolean;

const testOf =
  (view: View, entity: EntityModel, { column, field, op, value }: Asked): Test =>
  (row) =>
    (field === undefined || showsField(view, entity, field, row)) && compare(row[column] ?? null, op, value);

/** Filters through one relation are about one related record, which has to meet them all. */
function filterTests(
  view: View,
  entity: EntityModel,
  filters: readonly (readonly [string, string])[],
): (Test | undefined)[] {
  const through = new Map<string, [string, string][]>();
  const own: (Test | undefined)[] = [];
  for (const [name, text] of filters) {
    const dot = name.indexOf(".");
    if (dot === -1) {
      const asked = readFilter(entity, view.by, name, text);
      own.push(asked && testOf(view, entity, asked));
    } else {
      const relation = name.slice(0, dot);
      through.set(relation, [...(through.get(relation) ?? []), [name.slice(dot + 1), text]]);
    }
  }
  return [...own, ...[...through].map(([name, list]) => relatedTest(view, entity, name, list))];
}

function relatedTest(view: View, entity: EntityModel, name: string, filters: [string, string][]): Test | undefined {
  const relation = relationOf(entity, name);
  if (relation === undefined) return undefined;
  const target = entityOf(view.model, relation.target);
  if (reachOf(target, target.rules.read, view.by, "list") === "none") return undefined;
  const asked = filters.map(([column, text]) => readFilter(target, view.by, column, text));
  if (asked.some((one) => one === undefined)) return undefined;
  const tests = asked.map((one) => testOf(view, target, one as Asked));
  return (row) =>
    relatedTo(view.model, view.world, entity, row, relation).some(
      (other) => listed(view, target, other) && tests.every((test) => test(other)),
    );
}

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
