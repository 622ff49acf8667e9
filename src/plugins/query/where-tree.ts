import { type ColumnDefinition, isObject, jsonMemberKind, type Operator, operandOf } from "../../entity/index.ts";
import { isJsonPath, logicOf, quantifiersOf, type Where } from "../../gate/index.ts";
import { didYouMean, shownName } from "../../kernel/index.ts";
import { addProblem, MOST_LEVELS, type Reading, type Subject, single } from "./query-table.ts";

/** The parameter for conditions as JSON. */
export const WHERE = "_where";

type Members = Readonly<Record<string, unknown>>;

/** Parses the JSON of `_where`, without checking its content. */
export function parseTree(text: string | undefined): Members | undefined {
  if (text === undefined) return undefined;
  try {
    const tree: unknown = JSON.parse(text);
    return isObject(tree) ? tree : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads `_where={"or":[{"views":{"gt":100}},{"author":{"name":{"like":"m"}}}]}`.
 * @param counted called for each condition
 */
export function readTree(reading: Reading, counted: () => void): Where | undefined {
  const text = single(reading, WHERE);
  if (text === undefined) return undefined;
  const tree = parseTree(text);
  const context: Context = { reading, parameter: WHERE, counted };
  if (tree !== undefined) return readObject(context, reading, tree, 1);
  refuse(context, 'must be a JSON object, such as {"or":[{"a":1},{"b":{"gt":2}}]}');
  return undefined;
}

/**
 * Reads JSON conditions of another parameter.
 * @param subject the entity of the conditions
 */
export function readConditionsOf(
  reading: Reading,
  parameter: string,
  subject: Subject,
  tree: Where,
  counted: () => void,
): Where {
  return readObject({ reading, parameter, counted }, subject, tree, 1);
}

interface Context {
  readonly reading: Reading;
  readonly parameter: string;
  readonly counted: () => void;
}

function refuse({ reading, parameter }: Context, problem: string, suggestion = ""): void {
  addProblem(reading, parameter, `"${parameter}" ${problem}.${suggestion}`);
}

function readObject(context: Context, subject: Subject, value: unknown, level: number): Where {
  const where: Record<string, unknown> = Object.create(null);
  if (level > MOST_LEVELS) refuse(context, `is nested more than ${MOST_LEVELS} levels deep`);
  else if (!isObject(value)) refuse(context, "takes objects as conditions");
  else
    for (const [name, inner] of Object.entries(value)) where[name] = readMember(context, subject, name, inner, level);
  return where;
}

function readMember(context: Context, subject: Subject, name: string, value: unknown, level: number): unknown {
  const { counted } = context;
  const { table, mask, targets } = subject;
  const logic = logicOf(table.entity, name);
  if (logic !== undefined) {
    counted();
    if (Array.isArray(value)) return value.map((part) => readObject(context, subject, part, level + 1));
    if (logic === "NOT") return readObject(context, subject, value, level + 1);
    refuse(context, `takes a list of conditions for "${shownName(name)}"`);
    return [];
  }
  if (mask.filterable.has(name)) {
    counted();
    return readColumn(context, table.entity.columns[name] as ColumnDefinition, value);
  }
  const target = targets.get(name);
  const relation = table.relations.get(name);
  if (target === undefined || relation === undefined) {
    refuse(
      context,
      `has no field "${shownName(name)}" here`,
      didYouMean(name, [...mask.filterable, ...targets.keys()]),
    );
    return null;
  }
  if (value === null) {
    counted();
    return null;
  }
  const read = (inner: unknown): Where => {
    counted();
    return readObject(context, target, inner, level + 1);
  };
  const quantified = quantifiersOf(relation, value);
  if (quantified === undefined) return read(value);
  return Object.fromEntries(quantified.map(([quantifier, inner]) => [quantifier, read(inner)]));
}

function readColumn(context: Context, column: ColumnDefinition, value: unknown): unknown {
  if (!isObject(value)) return readOperand(context, column, Array.isArray(value) ? "in" : "eq", value);
  if (column.kind.hasPaths && Object.hasOwn(value, "path")) {
    const { path, ...tests } = value;
    if (isJsonPath(path))
      return { ...(readColumn(context, { ...column, kind: jsonMemberKind }, tests) as object), path };
    refuse(context, `takes a list of names and positions as the path into "${column.name}"`);
    return null;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) refuse(context, `has an empty condition on "${column.name}"`);
  return Object.fromEntries(
    entries.map(([operator, operand]) => [operator, readOperand(context, column, operator, operand)]),
  );
}

function readOperand(context: Context, column: ColumnDefinition, name: string, operand: unknown): unknown {
  const { kind } = column;
  const operator = name as Operator;
  if (operand === null && (operator === "eq" || operator === "ne")) return null;
  if (!kind.operators.has(operator)) {
    const known = [...kind.operators];
    refuse(context, `does not take "${shownName(name)}" on "${column.name}"; its operators are ${known.join(" ")}`);
    return null;
  }
  switch (operandOf(operator)) {
    case "truth":
      return typeof operand === "boolean" ? operand : wrong(context, column);
    case "text":
      return typeof operand === "string" ? operand : wrong(context, column);
    case "values":
    case "items":
      return readList(context, itemsOf(column), operand);
    default:
      return readValue(context, itemsOf(column), operand);
  }
}

/** A column for single items of an array; a column that is not an array is returned unchanged. */
function itemsOf(column: ColumnDefinition): ColumnDefinition {
  return column.kind.item === undefined ? column : { ...column, kind: column.kind.item };
}

function readList(context: Context, column: ColumnDefinition, operand: unknown): unknown {
  const { maxPageSize, inValues } = context.reading.limits;
  const most = column.role === "id" ? maxPageSize : inValues;
  if (!Array.isArray(operand)) return wrong(context, column);
  if (operand.length > most) {
    refuse(context, `takes at most ${most} values for "${column.name}"`);
    return [];
  }
  return operand.map((item) => (item === null ? null : readValue(context, column, item)));
}

/** Reads a JSON value, in the form of a body or of a query string. */
function readValue(context: Context, column: ColumnDefinition, value: unknown): unknown {
  const { kind } = column;
  if (kind.accepts(value)) return value;
  const read = typeof value === "string" ? kind.parse(value) : kind.convert?.(value);
  return read?.ok === true ? read.value : wrong(context, column, read?.message);
}

function wrong(context: Context, { name }: ColumnDefinition, message = "cannot be compared with this value"): null {
  refuse(context, `on "${name}" ${message}`);
  return null;
}
