/** Conditions in query strings (guides/queries.md, “Filtering”): which are refused, and what they test. */
import type { Comparison, EntityModel, FieldModel, Principal, RelationModel, Row, Scalar } from "../model.ts";
import { entityOf, keyOf, keysOf, relationOf } from "../model.ts";
import { compare, relatedTo } from "./conditions.ts";
import { reachOf } from "./rules.ts";
import { filterable, listed, showsField, type View } from "./shown.ts";

const SUFFIXES = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "starts", "ends", "null"] as const;
const ORDERED: readonly Comparison[] = ["gt", "gte", "lt", "lte"];
const TEXTUAL: readonly Comparison[] = ["like", "starts", "ends"];

/** A permitted comparison. */
export interface Asked {
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

/** Datetimes and decimals in the format that scenarios use. */
export const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const DECIMAL = /^-?\d{1,4}\.\d\d$/;

function valueFrom(kind: FieldModel["kind"], text: string): Scalar | undefined {
  if (kind === "string") return text;
  if (kind === "datetime") return MOMENT.test(text) ? text : undefined;
  if (kind === "decimal") return DECIMAL.test(text) ? text : undefined;
  if (kind === "bool") return text === "true" ? true : text === "false" ? false : undefined;
  return /^-?\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** Whether a caller may compare a column in this way: an unreadable field is treated like an unknown one. */
export function takes(entity: EntityModel, by: Principal, column: string, op: Comparison): boolean {
  const field = entity.fields.find((one) => one.name === column);
  const isKey = column === "id" || keysOf(entity).some((one) => keyOf(one) === column);
  if (field === undefined ? !isKey : !filterable(entity, field, by)) return false;
  if (op === "null") return true;
  if (field?.encrypted === "searchable") return op === "eq" || op === "in" || op === "ne" || op === "nin";
  if (TEXTUAL.includes(op)) return kindOf(field) === "string";
  return !ORDERED.includes(op) || kindOf(field) !== "bool";
}

const kindOf = (field: FieldModel | undefined): FieldModel["kind"] => field?.kind ?? "string";

/** One filter, or undefined when it is refused. */
function readFilter(entity: EntityModel, by: Principal, name: string, text: string): Asked | undefined {
  const [column, op] = split(name);
  if (!takes(entity, by, column, op)) return undefined;
  const field = entity.fields.find((one) => one.name === column);
  if (op === "null")
    return text === "true" || text === "false" ? { column, field, op, value: text === "true" } : undefined;
  const texts = op === "in" || op === "nin" ? text.split(",") : [text];
  const values = texts.map((one) => valueFrom(kindOf(field), one));
  if (values.some((one) => one === undefined)) return undefined;
  return { column, field, op, value: op === "in" || op === "nin" ? (values as Scalar[]) : (values[0] as Scalar) };
}

export type Test = (row: Row) => boolean;

/** A value in a form that sorts like its kind. */
export const ordered = (field: FieldModel | undefined, value: Scalar): Scalar =>
  field?.kind === "decimal" && value !== null ? Number(value) : value;

export function testOf(view: View, entity: EntityModel, { column, field, op, value }: Asked): Test {
  const own = (one: Scalar): Scalar => (op === "null" ? one : ordered(field, one));
  const given = Array.isArray(value) ? value.map(own) : own(value as Scalar);
  return (row) =>
    (field === undefined || showsField(view, entity, field, row)) &&
    compare(ordered(field, row[column] ?? null), op, given);
}

/** Filters through one relation apply to the same related record, also if their paths continue from it. */
export function filterTests(
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
  const along = [...through].map(([name, list]) =>
    relatedTest(view, entity, name, (target, there) => allOf(filterTests(there, target, list))),
  );
  return [...own, ...along];
}

const allOf = (tests: readonly (Test | undefined)[]): Test | undefined =>
  tests.includes(undefined) ? undefined : (row) => tests.every((test) => (test as Test)(row));

/** Whether some related record that the caller may read passes; undefined if the filter is not allowed. */
export function relatedTest(
  view: View,
  entity: EntityModel,
  name: string,
  inner: (target: EntityModel, there: View) => Test | undefined,
): Test | undefined {
  const relation = relationOf(entity, name);
  if (relation === undefined) return undefined;
  const there = further(view, relation);
  if (there === undefined) return undefined;
  const target = entityOf(view.model, relation.target);
  if (reachOf(target, target.rules.read, view.by, "list") === "none") return undefined;
  const test = inner(target, there);
  if (test === undefined) return undefined;
  return (row) =>
    relatedTo(view.model, view.world, entity, row, relation).some(
      (other) => listed(view, target, other) && test(other),
    );
}

/** The view of related records; undefined if a path returns from shared records to a list for the second time. */
function further(view: View, { kind }: RelationModel): View | undefined {
  const { isShared, turns } = view.way ?? { isShared: false, turns: 0 };
  const isMany = kind === "hasMany" || kind === "manyToMany";
  const turned = isMany && isShared ? turns + 1 : turns;
  if (turned > 1) return undefined;
  return { ...view, way: { isShared: kind === "hasOne" ? isShared : kind !== "hasMany", turns: turned } };
}
