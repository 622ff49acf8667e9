/** Conditions as JSON (guides/queries.md, “And, or, not”): which are refused, and what they test. */
import type { Comparison, EntityModel, FieldModel, Json, JsonObject, Scalar } from "../model.ts";
import { relationOf } from "../model.ts";
import { type Asked, DECIMAL, MOMENT, relatedTest, type Test, takes, testOf } from "./filters.ts";
import type { View } from "./shown.ts";

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "starts", "ends", "null"];

const every = (tests: readonly (Test | undefined)[]): Test | undefined =>
  tests.includes(undefined) ? undefined : (row) => tests.every((test) => (test as Test)(row));
const some = (tests: readonly (Test | undefined)[]): Test | undefined =>
  tests.includes(undefined) ? undefined : (row) => tests.some((test) => (test as Test)(row));
const not = (test: Test | undefined): Test | undefined => test && ((row) => !test(row));

/** The test of a tree; undefined when it is refused. */
export function treeTest(view: View, entity: EntityModel, tree: Json): Test | undefined {
  if (!isObject(tree)) return undefined;
  return every(Object.entries(tree).map(([name, value]) => memberTest(view, entity, name, value)));
}

function memberTest(view: View, entity: EntityModel, name: string, value: Json): Test | undefined {
  const parts = (list: readonly Json[]): (Test | undefined)[] => list.map((one) => treeTest(view, entity, one));
  if (name === "and") return Array.isArray(value) ? every(parts(value)) : undefined;
  if (name === "or") return Array.isArray(value) ? some(parts(value)) : undefined;
  if (name === "not") return Array.isArray(value) ? every(parts(value).map(not)) : not(treeTest(view, entity, value));
  const relation = relationOf(entity, name);
  if (relation === undefined) return columnTest(view, entity, name, value);
  const related = (inner: (target: EntityModel, there: View) => Test | undefined): Test | undefined =>
    relatedTest(view, entity, name, inner);
  // Without a related record that the caller may read.
  if (value === null) return not(related(() => () => true));
  if (!isObject(value)) return undefined;
  const isMany = relation.kind === "hasMany" || relation.kind === "manyToMany";
  const words = Object.keys(value);
  const isQuantified = isMany && words.length > 0 && words.every((one) => ["some", "none", "every"].includes(one));
  if (!isQuantified) return related((target, there) => treeTest(there, target, value));
  return every(
    Object.entries(value).map(([word, inner]) => {
      if (word === "some") return related((target, there) => treeTest(there, target, inner));
      if (word === "none") return not(related((target, there) => treeTest(there, target, inner)));
      return not(related((target, there) => not(treeTest(there, target, inner))));
    }),
  );
}

function columnTest(view: View, entity: EntityModel, column: string, value: Json): Test | undefined {
  const test = (op: string, operand: Json): Test | undefined => {
    const asked = readOperand(view, entity, column, op, operand);
    return asked && testOf(view, entity, asked);
  };
  if (Array.isArray(value)) return test("in", value);
  if (!isObject(value)) return test("eq", value);
  const tests = Object.entries(value).map(([op, operand]) => test(op, operand));
  return tests.length === 0 ? undefined : every(tests);
}

function readOperand(view: View, entity: EntityModel, column: string, op: string, operand: Json): Asked | undefined {
  if (!OPERATORS.includes(op) || !takes(entity, view.by, column, op as Comparison)) return undefined;
  const field = entity.fields.find((one) => one.name === column);
  const asked = { column, field, op: op as Comparison, value: operand as Scalar };
  if (op === "null") return typeof operand === "boolean" ? asked : undefined;
  if (op === "in" || op === "nin")
    return Array.isArray(operand) && operand.every((one) => one === null || isOf(field, one)) ? asked : undefined;
  if (operand === null) return op === "eq" || op === "ne" ? asked : undefined;
  return isOf(field, operand) ? asked : undefined;
}

/** Whether a value is of a field's kind; keys are text. */
function isOf(field: FieldModel | undefined, value: Json): boolean {
  if (field?.kind === "int") return Number.isInteger(value);
  if (field?.kind === "datetime") return MOMENT.test(String(value));
  if (field?.kind === "decimal") return DECIMAL.test(String(value));
  return typeof value === (field?.kind === "bool" ? "boolean" : "string");
}
