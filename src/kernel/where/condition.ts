import type { AnyEntity, ColumnDefinition, EntityModel, Operator, ResolvedRelation } from "../../entity/index.ts";
import { BadRequestError } from "../errors/errors.ts";
import type { Where } from "../ports/driver.ts";
import { LOGIC, WHERE_DEPTH } from "./members.ts";

/** Operators that remain after compilation; `ne`, `nin` and `NOT` have become negated comparisons. */
export type CompareOperator = "eq" | "gt" | "gte" | "lt" | "lte" | "in" | "like" | "starts" | "ends";

/**
 * A compiled `where`: names resolved, values checked, negation pushed down to the leaves. A negated comparison is the
 * exact complement of the plain one, so it also holds for null.
 */
export type Condition =
  | { readonly kind: "and" | "or"; readonly parts: readonly Condition[] }
  | {
      readonly kind: "compare";
      readonly column: ColumnDefinition;
      readonly operator: CompareOperator;
      readonly value: unknown;
      readonly negated: boolean;
    }
  | { readonly kind: "null"; readonly column: ColumnDefinition; readonly negated: boolean }
  /** "some": a related record matches; "none": no related record does (to-one: there is none, or it does not match). */
  | {
      readonly kind: "related";
      readonly relation: ResolvedRelation;
      readonly quantifier: "some" | "none";
      readonly where: Condition;
    };

/** The condition that every record meets. */
export const ALWAYS: Condition = Object.freeze({ kind: "and", parts: [] });
/** The condition that no record meets. */
export const NEVER: Condition = Object.freeze({ kind: "or", parts: [] });

const NEGATED: Partial<Record<Operator, CompareOperator>> = { ne: "eq", nin: "in" };

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function refuse(entity: AnyEntity, problem: string): never {
  throw new BadRequestError(`where on ${entity.name}: ${problem}`);
}

/**
 * Compiles a `where` for an entity.
 * @throws BadRequestError for unknown names and operators, inherited keys, `undefined`, and values of the wrong type
 */
export function compileWhere(model: EntityModel, entity: AnyEntity, where: Where | undefined): Condition {
  return where === undefined ? ALWAYS : compileObject(model, entity, where, false, 1);
}

function compileObject(
  model: EntityModel,
  entity: AnyEntity,
  where: unknown,
  negated: boolean,
  depth: number,
): Condition {
  if (depth > WHERE_DEPTH) refuse(entity, `it is nested more than ${WHERE_DEPTH} levels deep`);
  if (!isPlainObject(where)) refuse(entity, "a condition must be a plain object");
  const parts: Condition[] = [];
  for (const key of Object.keys(where)) {
    const value = where[key];
    if (value === undefined) refuse(entity, `"${key}" is undefined; leave it out, or use null`);
    parts.push(
      LOGIC.has(key)
        ? compileLogic(model, entity, key, value, negated, depth + 1)
        : compileMember(model, entity, key, value, negated, depth + 1),
    );
  }
  return join(negated ? "or" : "and", parts);
}

function compileLogic(
  model: EntityModel,
  entity: AnyEntity,
  key: string,
  value: unknown,
  negated: boolean,
  depth: number,
): Condition {
  if (key === "NOT") {
    if (!Array.isArray(value)) return compileObject(model, entity, value, !negated, depth);
    return join(
      negated ? "or" : "and",
      value.map((part) => compileObject(model, entity, part, !negated, depth)),
    );
  }
  if (!Array.isArray(value)) refuse(entity, `${key} takes an array of conditions`);
  const parts = value.map((part) => compileObject(model, entity, part, negated, depth));
  return join((key === "AND") !== negated ? "and" : "or", parts);
}

function compileMember(
  model: EntityModel,
  entity: AnyEntity,
  key: string,
  value: unknown,
  negated: boolean,
  depth: number,
): Condition {
  const column = Object.hasOwn(entity.columns, key) ? entity.columns[key] : undefined;
  if (column !== undefined) return compileColumn(entity, column, value, negated);
  const relation = Object.hasOwn(entity.relations, key) ? model.relation(entity, key) : undefined;
  if (relation === undefined || relation.remote) refuse(entity, `there is no field "${key}"`);
  // A to-one relation compared with null asks whether there is a related record at all.
  if (value === null) return { kind: "related", relation, quantifier: negated ? "some" : "none", where: ALWAYS };
  const inner = compileObject(model, relation.target, value, false, depth);
  return { kind: "related", relation, quantifier: negated ? "none" : "some", where: inner };
}

function compileColumn(entity: AnyEntity, column: ColumnDefinition, value: unknown, negated: boolean): Condition {
  if (Array.isArray(value)) return compileOperator(entity, column, "in", value, negated);
  if (!isPlainObject(value)) return compileOperator(entity, column, "eq", value, negated);
  const parts = Object.keys(value).map((operator) =>
    compileOperator(entity, column, operator, value[operator], negated),
  );
  if (parts.length === 0) refuse(entity, `the condition on "${column.name}" is empty`);
  return join(negated ? "or" : "and", parts);
}

function compileOperator(
  entity: AnyEntity,
  column: ColumnDefinition,
  name: string,
  operand: unknown,
  negated: boolean,
): Condition {
  if (operand === undefined) refuse(entity, `"${column.name}" is undefined; leave it out, or use null`);
  const operator = name as Operator;
  if (!column.kind.operators.has(operator) && !(operator === "eq" && operand === null))
    refuse(entity, `"${column.name}" does not take the operator "${name}"`);
  if (operator === "null") {
    if (typeof operand !== "boolean") refuse(entity, `"null" on "${column.name}" takes true or false`);
    return { kind: "null", column, negated: operand === negated };
  }
  const positive = NEGATED[operator];
  if (positive !== undefined) return compileOperator(entity, column, positive, operand, !negated);
  if (operand === null && operator === "eq") return { kind: "null", column, negated };
  if (operator === "in") return compileIn(entity, column, operand, negated);
  if (!acceptsOperand(column, operator, operand)) refuse(entity, `"${column.name}" cannot be compared with this value`);
  return { kind: "compare", column, operator: operator as CompareOperator, value: operand, negated };
}

function acceptsOperand(column: ColumnDefinition, operator: Operator, operand: unknown): boolean {
  // A fragment of text need not be a whole value: half of an enum's word is a fine search.
  if (operator === "like" || operator === "starts" || operator === "ends")
    return typeof operand === "string" && operand.isWellFormed() && !operand.includes("\u0000");
  return column.kind.accepts(operand);
}

function compileIn(entity: AnyEntity, column: ColumnDefinition, operand: unknown, negated: boolean): Condition {
  if (!Array.isArray(operand)) refuse(entity, `"in" on "${column.name}" takes an array`);
  const values = [...operand].filter((value) => value !== null); // copied, because filter skips holes
  for (const value of values)
    if (!column.kind.accepts(value)) refuse(entity, `"${column.name}" cannot be compared with this value`);
  const parts: Condition[] = [];
  if (values.length > 0) parts.push({ kind: "compare", column, operator: "in", value: values, negated });
  if (values.length < operand.length) parts.push({ kind: "null", column, negated });
  return join(negated ? "and" : "or", parts);
}

function join(kind: "and" | "or", parts: readonly Condition[]): Condition {
  return parts.length === 1 ? (parts[0] as Condition) : { kind, parts };
}

/** Both conditions together; leaves out what is absent. */
export function allOf(...wheres: readonly (Where | undefined)[]): Where {
  const present = wheres.filter((where): where is Where => where !== undefined);
  return present.length === 1 ? (present[0] as Where) : { AND: present };
}

/** All conditions that are present, or undefined when none is. */
export function allPresent(...wheres: readonly (Where | undefined)[]): Where | undefined {
  return wheres.every((where) => where === undefined) ? undefined : allOf(...wheres);
}

/** Whether a condition holds for every record without looking; drivers refuse it in bulk writes. */
export function isAlways(condition: Condition): boolean {
  if (condition.kind === "and") return condition.parts.every(isAlways);
  return condition.kind === "or" && condition.parts.some(isAlways);
}
