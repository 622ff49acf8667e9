import type { ColumnDefinition, Operator } from "../../entity/index.ts";
import { logicOf, quantifiersOf, type Where } from "../../gate/index.ts";
import { didYouMean, shownName } from "../../kernel/index.ts";
import { addProblem, MOST_LEVELS, type Reading, type Subject, single } from "./query-table.ts";

/** The parameter that has conditions as JSON. */
export const WHERE = "_where";

type Members = Readonly<Record<string, unknown>>;

/** Reads the JSON of `_where`, without looking into it. */
export function parseTree(text: string | undefined): Members | undefined {
  if (text === undefined) return undefined;
  try {
    const tree: unknown = JSON.parse(text);
    return isObject(tree) ? tree : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads `_where={"or":[{"views":{"gt":100}},{"author":{"name":{"like":"m"}}}]}`.
 * @param counted is called for each condition
 */
export function readTree(reading: Reading, counted: () => void): Where | undefined {
  const text = single(reading, WHERE);
  if (text === undefined) return undefined;
  const tree = parseTree(text);
  if (tree !== undefined) return readObject({ reading, counted }, reading, tree, 1);
  refuse(reading, 'must be a JSON object, such as {"or":[{"a":1},{"b":{"gt":2}}]}');
  return undefined;
}

interface Context {
  readonly reading: Reading;
  readonly counted: () => void;
}

function refuse(reading: Reading, problem: string, suggestion = ""): void {
  addProblem(reading, WHERE, `"${WHERE}" ${problem}.${suggestion}`);
}

function readObject(context: Context, subject: Subject, value: unknown, level: number): Where {
  const where: Record<string, unknown> = Object.create(null);
  const { reading } = context;
  if (level > MOST_LEVELS) refuse(reading, `is nested more than ${MOST_LEVELS} levels deep`);
  else if (!isObject(value)) refuse(reading, "takes objects as conditions");
  else
    for (const [name, inner] of Object.entries(value)) where[name] = readMember(context, subject, name, inner, level);
  return where;
}

function readMember(context: Context, subject: Subject, name: string, value: unknown, level: number): unknown {
  const { reading, counted } = context;
  const { table, mask, targets } = subject;
  const logic = logicOf(table.entity, name);
  if (logic !== undefined) {
    counted();
    if (Array.isArray(value)) return value.map((part) => readObject(context, subject, part, level + 1));
    if (logic === "NOT") return readObject(context, subject, value, level + 1);
    refuse(reading, `takes a list of conditions for "${shownName(name)}"`);
    return [];
  }
  if (mask.filterable.has(name)) {
    counted();
    return readColumn(reading, table.entity.columns[name] as ColumnDefinition, value);
  }
  const target = targets.get(name);
  const relation = table.relations.get(name);
  if (target === undefined || relation === undefined) {
    refuse(
      reading,
      `has no field "${shownName(name)}" here`,
      didYouMean(name, [...mask.filterable, ...targets.keys()]),
    );
    return null;
  }
  if (value === null) {
    counted();
    return null;
  }
  const quantified = quantifiersOf(relation, value);
  if (quantified === undefined) return readObject(context, target, value, level + 1);
  return Object.fromEntries(
    quantified.map(([quantifier, inner]) => [quantifier, readObject(context, target, inner, level + 1)]),
  );
}

function readColumn(reading: Reading, column: ColumnDefinition, value: unknown): unknown {
  if (!isObject(value)) return readOperand(reading, column, Array.isArray(value) ? "in" : "eq", value);
  const entries = Object.entries(value);
  if (entries.length === 0) refuse(reading, `has an empty condition on "${column.name}"`);
  return Object.fromEntries(
    entries.map(([operator, operand]) => [operator, readOperand(reading, column, operator, operand)]),
  );
}

function readOperand(reading: Reading, column: ColumnDefinition, name: string, operand: unknown): unknown {
  const { kind } = column;
  const operator = name as Operator;
  if (operand === null && (operator === "eq" || operator === "ne")) return null;
  if (!kind.operators.has(operator)) {
    const known = [...kind.operators];
    refuse(reading, `does not take "${shownName(name)}" on "${column.name}"; its operators are ${known.join(" ")}`);
    return null;
  }
  if (operator === "null") return typeof operand === "boolean" ? operand : wrong(reading, column);
  if (operator === "in" || operator === "nin") return readList(reading, column, operand);
  if (operator === "like" || operator === "starts" || operator === "ends")
    return typeof operand === "string" ? operand : wrong(reading, column);
  return readValue(reading, column, operand);
}

function readList(reading: Reading, column: ColumnDefinition, operand: unknown): unknown {
  const { maxPageSize, inValues } = reading.limits;
  const most = column.role === "id" ? maxPageSize : inValues;
  if (!Array.isArray(operand)) return wrong(reading, column);
  if (operand.length > most) {
    refuse(reading, `takes at most ${most} values for "${column.name}"`);
    return [];
  }
  return operand.map((item) => (item === null ? null : readValue(reading, column, item)));
}

/** A value as JSON has it: as in a body, or as text where a query string would have it. */
function readValue(reading: Reading, column: ColumnDefinition, value: unknown): unknown {
  const { kind } = column;
  if (kind.accepts(value)) return value;
  const read = typeof value === "string" ? kind.parse(value) : kind.convert?.(value);
  return read?.ok === true ? read.value : wrong(reading, column, read?.message);
}

function wrong(reading: Reading, { name }: ColumnDefinition, message = "cannot be compared with this value"): null {
  refuse(reading, `on "${name}" ${message}`);
  return null;
}
