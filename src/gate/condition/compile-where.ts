import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  type FieldKind,
  isPlainObject,
  isStorableText,
  OPERATORS,
  type Operator,
  operandOf,
  type ResolvedRelation,
} from "../../entity/index.ts";
import { BadRequestError } from "../../kernel/index.ts";
import {
  ALWAYS,
  and,
  type Condition,
  compare,
  isCondition,
  NEVER,
  not,
  or,
  related,
  type Test,
  type Where,
} from "./condition.ts";
import { columnAt, isJsonPath } from "./json-path.ts";
import { hasWords, SEARCH } from "./search.ts";
import { WHERE_DEPTH } from "./where-shape.ts";

type Logic = "AND" | "OR" | "NOT";

const LOGIC: ReadonlyMap<string, Logic> = new Map([
  ["AND", "AND"],
  ["OR", "OR"],
  ["NOT", "NOT"],
  ["and", "AND"],
  ["or", "OR"],
  ["not", "NOT"],
]);

/** The logical operator of a key of a `where`. A field or relation named `and` or `or` takes precedence. */
export function logicOf(entity: AnyEntity, key: string): Logic | undefined {
  const logic = LOGIC.get(key);
  return logic === undefined || (key !== logic && isMember(entity, key)) ? undefined : logic;
}

function isMember({ columns, relations }: AnyEntity, name: string): boolean {
  return Object.hasOwn(columns, name) || Object.hasOwn(relations, name);
}

/** How many related records of a to-many relation must match. */
export type Quantifier = "some" | "none" | "every";

const QUANTIFIERS: ReadonlySet<string> = new Set<Quantifier>(["some", "none", "every"]);

/**
 * The conditions of `{ some, none, every }` on a to-many relation; undefined for a condition on the related records.
 * Fields and relations of the target with these names take precedence.
 */
export function quantifiersOf(
  { many, target }: ResolvedRelation,
  value: unknown,
): readonly (readonly [Quantifier, unknown])[] | undefined {
  if (!many || !isPlainObject(value)) return undefined;
  const entries = Object.entries(value);
  const all = entries.length > 0 && entries.every(([name]) => QUANTIFIERS.has(name) && !isMember(target, name));
  return all ? (entries as [Quantifier, unknown][]) : undefined;
}

/** The columns and relations that a caller may filter on. Checked for each name before its value is read. */
export interface AskingRights {
  /**
   * @returns an additional condition on the record, or undefined
   * @throws for columns that the caller may not compare
   */
  column(entity: AnyEntity, name: string): Condition | undefined;
  /**
   * @returns additional conditions on the record itself and on the related record, or undefined
   * @throws for names that are not columns, and for relations that the caller may not follow
   */
  relation(
    entity: AnyEntity,
    name: string,
  ): { readonly own: Condition | undefined; readonly related: Condition | undefined } | undefined;
}

/**
 * Compiles a `where` into a condition. Compiled conditions inside it are kept.
 * @param rights the rights of the caller who sent the `where`; it then must not contain compiled conditions @default no
 *   restrictions
 * @throws BadRequestError for unknown names and operators, inherited keys, `undefined`, and values of the wrong type
 */
export function compileWhere(
  model: EntityModel,
  entity: AnyEntity,
  where: Where | Condition | undefined,
  rights?: AskingRights,
): Condition {
  return where === undefined ? ALWAYS : compileObject({ model, rights }, entity, where, 1);
}

interface Context {
  readonly model: EntityModel;
  readonly rights: AskingRights | undefined;
}

function refuse(entity: AnyEntity, problem: string): never {
  throw new BadRequestError(`where on ${entity.name}: ${problem}`);
}

function compileObject(context: Context, entity: AnyEntity, where: unknown, depth: number): Condition {
  if (context.rights === undefined && isCondition(where)) return where;
  if (depth > WHERE_DEPTH) refuse(entity, `it is nested more than ${WHERE_DEPTH} levels deep`);
  if (!isPlainObject(where)) refuse(entity, "a condition must be a plain object");
  const parts: Condition[] = [];
  for (const key of Object.keys(where)) {
    const value = where[key];
    if (value === undefined) refuse(entity, `"${key}" is undefined; leave it out, or use null`);
    const logic = logicOf(entity, key);
    parts.push(
      logic === undefined
        ? compileMember(context, entity, key, value, depth + 1)
        : compileLogic(context, entity, logic, value, depth + 1),
    );
  }
  return and(parts);
}

function compileLogic(context: Context, entity: AnyEntity, key: Logic, value: unknown, depth: number): Condition {
  if (key === "NOT") {
    const parts = Array.isArray(value) ? value : [value];
    return and(parts.map((part) => not(compileObject(context, entity, part, depth))));
  }
  if (!Array.isArray(value)) refuse(entity, `${key} takes an array of conditions`);
  const parts = value.map((part) => compileObject(context, entity, part, depth));
  return key === "AND" ? and(parts) : or(parts);
}

function compileMember(context: Context, entity: AnyEntity, key: string, value: unknown, depth: number): Condition {
  const { model, rights } = context;
  if (Object.hasOwn(entity.columns, key)) {
    const besides = rights?.column(entity, key);
    const condition = compileColumn(entity, entity.columns[key] as ColumnDefinition, value);
    return besides === undefined ? condition : and([condition, besides]);
  }
  const { own, related: besides } = rights?.relation(entity, key) ?? {};
  const relation = Object.hasOwn(entity.relations, key) ? model.relation(entity, key) : undefined;
  if (relation === undefined || relation.remote) refuse(entity, `there is no field "${key}"`);
  const condition = compileRelation(context, relation, value, besides, depth);
  return own === undefined ? condition : and([condition, own]);
}

function compileRelation(
  context: Context,
  relation: ResolvedRelation,
  value: unknown,
  besides: Condition | undefined,
  depth: number,
): Condition {
  const some = (inner: Condition) => related(relation, besides === undefined ? inner : and([inner, besides]));
  // A to-one relation compared with null tests whether a related record exists.
  if (value === null) return not(some(ALWAYS));
  const inner = (where: unknown) => compileObject(context, relation.target, where, depth);
  const quantifiers = quantifiersOf(relation, value);
  if (quantifiers === undefined) return some(inner(value));
  return and(
    quantifiers.map(([quantifier, where]) => {
      if (quantifier === "some") return some(inner(where));
      return not(some(quantifier === "none" ? inner(where) : not(inner(where))));
    }),
  );
}

function compileColumn(entity: AnyEntity, column: ColumnDefinition, value: unknown): Condition {
  if (Array.isArray(value)) return compileOperator(entity, column, "in", value);
  if (!isPlainObject(value)) return compileOperator(entity, column, "eq", value);
  if (column.kind.hasPaths && Object.hasOwn(value, "path")) return compilePath(entity, column, value);
  const operators = Object.keys(value);
  if (operators.length === 0) refuse(entity, `the condition on "${column.name}" is empty`);
  return and(operators.map((operator) => compileOperator(entity, column, operator, value[operator])));
}

/** Compiles a condition on a path of a JSON field: `{ path: ["theme"], eq: "dark" }`. */
function compilePath(entity: AnyEntity, column: ColumnDefinition, value: Record<string, unknown>): Condition {
  const { path, ...tests } = value;
  if (!isJsonPath(path))
    refuse(entity, `the path into "${column.name}" is a list of names and of positions in arrays, such as ["theme"]`);
  const member = columnAt(column, path);
  return compileColumn(entity, member, tests);
}

function compileOperator(entity: AnyEntity, column: ColumnDefinition, name: string, operand: unknown): Condition {
  if (operand === undefined) refuse(entity, `"${column.name}" is undefined; leave it out, or use null`);
  if (name === SEARCH && column.field?.search !== undefined) return hasWords(entity, column, operand);
  const operator = name as Operator;
  if (!column.kind.operators.has(operator) && !(operator === "eq" && operand === null))
    refuse(entity, `"${column.name}" does not take the operator "${name}"`);
  switch (operator) {
    case "null":
      if (typeof operand !== "boolean") refuse(entity, `"null" on "${column.name}" takes true or false`);
      return operand ? compare(column, "eq", null) : not(compare(column, "eq", null));
    case "ne":
      return not(compileOperator(entity, column, "eq", operand));
    case "nin":
      return not(compileOperator(entity, column, "in", operand));
    case "in":
      return compileIn(entity, column, operand);
    case "has":
    case "hasAny":
    case "hasAll":
    case "isEmpty":
      return compileList(entity, column, operator, operand);
    default:
      if (operand === null && operator === "eq") return compare(column, "eq", null);
      if (operator === "eq" && isNoId(column, operand)) return NEVER;
      return compare(column, operator, readOperand(entity, column, operator, operand));
  }
}

/**
 * Whether a text cannot be the id of any record, because ids are numbers or UUIDs. It is treated like an unknown id.
 */
function isNoId({ role, kind }: ColumnDefinition, value: unknown): boolean {
  if (typeof value !== "string" || (role !== "id" && role !== "foreignKey")) return false;
  return kind.convert?.(value).ok === false;
}

/** Converts an operand to the column's kind. @throws BadRequestError */
function readOperand(entity: AnyEntity, column: ColumnDefinition, test: Test, operand: unknown): unknown {
  const { kind } = column;
  if (column.path !== undefined && typeof operand === "boolean" && OPERATORS[test].group === "order")
    refuse(entity, `"${test}" on "${column.name}" takes a text or a number`);
  // A fragment of text does not have to be a valid value: part of an enum value is a valid search.
  const isFragment = operandOf(test) === "text";
  if (isFragment ? typeof operand === "string" && isStorableText(operand) : kind.accepts(operand)) return operand;
  const converted = isFragment ? undefined : kind.convert?.(operand);
  if (converted?.ok !== true) refuse(entity, `"${column.name}" cannot be compared with this value`);
  return converted.value;
}

/** Compiles a condition on the items of a list. A list that is null has no items, but is not empty either. */
function compileList(
  entity: AnyEntity,
  column: ColumnDefinition,
  operator: "has" | "hasAny" | "hasAll" | "isEmpty",
  operand: unknown,
): Condition {
  const isThere = not(compare(column, "eq", null));
  if (operator === "isEmpty") {
    if (typeof operand !== "boolean") refuse(entity, `"isEmpty" on "${column.name}" takes true or false`);
    const isEmpty = compare(column, "isEmpty", true);
    return operand ? isEmpty : and([isThere, not(isEmpty)]);
  }
  const given = operator === "has" ? [operand] : operand;
  if (!Array.isArray(given)) refuse(entity, `"${operator}" on "${column.name}" takes an array`);
  const { item } = column.kind;
  const items = [...given].map((value) => readOperand(entity, { ...column, kind: item as FieldKind }, "eq", value));
  if (items.length > 0) return compare(column, operator === "hasAny" ? "hasAny" : "hasAll", items);
  return operator === "hasAny" ? NEVER : isThere;
}

function compileIn(entity: AnyEntity, column: ColumnDefinition, operand: unknown): Condition {
  if (!Array.isArray(operand)) refuse(entity, `"in" on "${column.name}" takes an array`);
  // Copied, because filter skips holes.
  const values = [...operand].filter((value) => value !== null && !isNoId(column, value));
  const hasNull = operand.includes(null);
  const parts: Condition[] = [];
  // Values of different types.
  if (column.path !== undefined) parts.push(...values.map((value) => compileOperator(entity, column, "eq", value)));
  else if (values.length > 0)
    parts.push(
      compare(
        column,
        "in",
        values.map((value) => readOperand(entity, column, "in", value)),
      ),
    );
  if (hasNull) parts.push(compare(column, "eq", null));
  return or(parts);
}

/** Joins the defined conditions with AND; without any, every record matches. */
export function allOf(...wheres: readonly (Where | Condition | undefined)[]): Where {
  const present = wheres.filter((where): where is Where => where !== undefined);
  return present.length === 1 ? (present[0] as Where) : { AND: present };
}

/** Like `allOf`, but returns undefined when no condition is defined. */
export function allPresent(...wheres: readonly (Where | Condition | undefined)[]): Where | undefined {
  return wheres.every((where) => where === undefined) ? undefined : allOf(...wheres);
}
