import {
  type ColumnDefinition,
  isOperator,
  type JsonPath,
  jsonMemberKind,
  type OperandForm,
  type Operator,
  operandOf,
  type Parsed,
  SUFFIXES,
} from "../../entity/index.ts";
import { allOf, explainRemote, readJsonPath, testAtPath, type Where } from "../../gate/index.ts";
import { didYouMean, type Limits, nearest, shownName } from "../../kernel/index.ts";
import { addProblem, type Filter, type Reading, type Subject, single } from "./query-table.ts";
import { readTree } from "./where-tree.ts";

/**
 * The message for an unknown parameter. A field that the caller may not read gets the same message, and only names that
 * the caller may use are suggested.
 */
function unknownParameter(reading: Reading, name: string): string {
  const relation = reading.filters ? reading.table.relations.get(name.split(".", 1)[0] as string) : undefined;
  const remote = explainRemote(relation, reading.mask);
  return remote ?? `Unknown parameter "${shownName(name)}".${suggestion(reading, name)}`;
}

function suggestion(reading: Reading, name: string): string {
  if (!reading.filters) return didYouMean(name, reading.controls);
  const { subject, path, rest } = follow(reading, name);
  const dot = rest.indexOf(".");
  if (dot === -1) return fieldSuggestion(subject, rest, path, path === "" ? reading.controls : []);
  const near = nearest(rest.slice(0, dot), subject.targets.keys());
  return near === undefined ? "" : ` Did you mean "${path}${near}${shownName(rest.slice(dot))}"?`;
}

function fieldSuggestion({ table, mask }: Subject, name: string, prefix: string, others: Iterable<string>): string {
  const cut = name.lastIndexOf("_");
  const base = name.slice(0, cut);
  const suffix = name.slice(cut + 1);
  if (cut > 0 && mask.filterable.has(base)) {
    const operators = [...(table.entity.columns[base]?.kind.operators ?? [])].filter((operator) => operator !== "eq");
    const near = nearest(suffix, operators);
    if (near !== undefined) return ` Did you mean "${prefix}${base}_${near}"?`;
    return ` Operators on "${prefix}${base}" are ${operators.map((operator) => `_${operator}`).join(" ")}.`;
  }
  if (cut > 0 && isSuffix(suffix)) {
    const near = nearest(base, mask.filterable);
    if (near !== undefined) return ` Did you mean "${prefix}${near}_${suffix}"?`;
  }
  const near = nearest(name, [...mask.filterable, ...others]);
  return near === undefined ? "" : ` Did you mean "${prefix}${near}"?`;
}

function isSuffix(name: string): name is Operator {
  return isOperator(name) && name !== "eq";
}

/** The conditions of a query, and the number of ids that it lists, if any. */
interface Conditions {
  readonly where: Where | undefined;
  readonly search: string | undefined;
  readonly ids: number | undefined;
}

type Operand = (column: ColumnDefinition, texts: readonly string[], limits: Limits) => Parsed<unknown>;

const fail = (message: string): Parsed<never> => ({ ok: false, message });

const value: Operand = (column, [text = ""]) => column.kind.parse(text);

/** A fragment of text need not be a valid value: part of an enum's word can be searched for, too. */
const fragment: Operand = (_column, [text = ""]) => ({ ok: true, value: text });

const flag: Operand = (_column, [text]) =>
  text === "true" || text === "false" ? { ok: true, value: text === "true" } : fail("must be true or false");

const list: Operand = (column, [text = ""], limits) => values(column, splitList(text), limits);

const values: Operand = (column, texts, limits) => {
  // A list of ids may be as long as a page, because it selects the records of one (react-admin's getMany does).
  const most = column.role === "id" ? limits.maxPageSize : limits.inValues;
  if (texts.length > most) return fail(`takes at most ${most} values`);
  const read: unknown[] = [];
  for (const text of texts) {
    const one = item(column, [text], limits);
    if (!one.ok) return one;
    read.push(one.value);
  }
  return { ok: true, value: read };
};

const item: Operand = (column, [text = ""]) => (column.kind.item ?? column.kind).parse(text);

const OPERANDS: Readonly<Record<OperandForm, Operand>> = {
  value,
  values: list,
  text: fragment,
  item,
  items: list,
  truth: flag,
};

/** Reads every parameter that is a condition, including `q`. All conditions are combined with AND. */
export function readConditions(reading: Reading): Conditions {
  const parts: Where[] = [];
  const related: RelatedConditions = { own: [], targets: new Map() };
  let count = 0;
  let ids: number | undefined;
  for (const [name, texts] of reading.parameters) {
    // Browser libraries append a lone "_" to avoid caches.
    if (name === "_" || reading.controls.has(name)) continue;
    const found = reading.filters ? findFilter(reading, name) : undefined;
    if (found === undefined) {
      addProblem(reading, name, unknownParameter(reading, name));
      continue;
    }
    count++;
    const condition = readFilter(reading, name, found.filter, texts);
    if (condition === undefined) continue;
    const { column } = found.filter;
    if (found.path.length > 0) {
      addRelated(related, found.path, condition);
      continue;
    }
    parts.push(condition);
    if (column.role === "id") ids = countOf(condition.id as Readonly<Record<string, unknown>>) ?? ids;
  }
  parts.push(...relatedWheres(related));
  const tree = readTree(reading, () => count++);
  if (tree !== undefined) parts.push(tree);
  const search = single(reading, "q");
  if (search !== undefined) count++;
  if (count > reading.limits.conditions)
    addProblem(reading, "", `A query takes at most ${reading.limits.conditions} conditions.`);
  return { where: parts.length === 0 ? undefined : allOf(...parts), search, ids };
}

/** The number of ids that a condition on `id` lists. */
function countOf(condition: Readonly<Record<string, unknown>>): number | undefined {
  return Array.isArray(condition.in) ? condition.in.length : undefined;
}

/**
 * Conditions on a record and on its related records, by relation. All conditions of a relation must hold for the same
 * record.
 */
interface RelatedConditions {
  readonly own: Where[];
  readonly targets: Map<string, RelatedConditions>;
}

function addRelated(conditions: RelatedConditions, path: readonly string[], condition: Where): void {
  let at = conditions;
  for (const relation of path) {
    const next = at.targets.get(relation) ?? { own: [], targets: new Map() };
    at.targets.set(relation, next);
    at = next;
  }
  at.own.push(condition);
}

function relatedWheres({ targets }: RelatedConditions): Where[] {
  return [...targets].map(([relation, inner]) => ({ [relation]: allOf(...inner.own, ...relatedWheres(inner)) }));
}

/** Follows the relations at the start of a name, as far as the caller may. */
function follow(
  reading: Reading,
  name: string,
): { readonly subject: Subject; readonly path: string; readonly rest: string } {
  let subject: Subject = reading;
  let start = 0;
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", start)) {
    const target = subject.targets.get(name.slice(start, dot));
    if (target === undefined) break;
    subject = target;
    start = dot + 1;
  }
  return { subject, path: name.slice(0, start), rest: name.slice(start) };
}

function findFilter(reading: Reading, name: string): { filter: Filter; path: readonly string[] } | undefined {
  const own = filterOf(reading, name);
  if (own !== undefined) return { filter: own, path: [] };
  const { subject, path, rest } = follow(reading, name);
  const filter = (path === "" ? undefined : filterOf(subject, rest)) ?? pathFilterOf(subject, rest);
  return filter === undefined ? undefined : { filter, path: path === "" ? [] : path.slice(0, -1).split(".") };
}

/** A condition on a JSON member: `settings.theme_ne`. Members whose own name ends like an operator need `_where`. */
function pathFilterOf({ table, mask }: Subject, name: string): Filter | undefined {
  const dot = name.indexOf(".");
  const field = name.slice(0, dot);
  const column = dot === -1 || !mask.filterable.has(field) ? undefined : table.entity.columns[field];
  if (column?.kind.hasPaths !== true) return undefined;
  const cut = name.lastIndexOf("_");
  const suffix = name.slice(cut + 1);
  const operator = cut > dot && isSuffix(suffix) ? suffix : undefined;
  const path = readJsonPath(name.slice(dot + 1, operator && cut));
  return path && { column, path, operator: operator ?? "eq" };
}

/** The first meaning of a name whose field the caller may filter by. */
function filterOf({ table, mask }: Subject, name: string): Filter | undefined {
  return table.filters.get(name)?.find(({ column }) => mask.filterable.has(column.name));
}

function readFilter(reading: Reading, name: string, filter: Filter, texts: readonly string[]): Where | undefined {
  const { column, path } = filter;
  const { operators } = path === undefined ? column.kind : jsonMemberKind;
  const several = filter.operator === "eq" && texts.length > 1;
  const operator = several ? "in" : filter.operator;
  if (!operators.has(operator)) {
    const suffixes = SUFFIXES.filter((suffix) => operators.has(suffix)).map((suffix) => `_${suffix}`);
    addProblem(reading, name, `"${name}" cannot be used; operators on "${column.name}" are ${suffixes.join(" ")}.`);
    return undefined;
  }
  if (texts.length > 1 && !several) {
    addProblem(reading, name, `"${name}" is given more than once.`);
    return undefined;
  }
  if (path !== undefined) return readAtPath(reading, name, { ...filter, path, operator }, texts);
  const operand = (several ? values : OPERANDS[operandOf(operator)])(column, texts, reading.limits);
  if (operand.ok) return { [column.name]: { [operator]: operand.value } };
  addProblem(reading, name, `"${name}" ${operand.message}.`);
  return undefined;
}

function readAtPath(
  reading: Reading,
  name: string,
  { column, path, operator }: Filter & { readonly path: JsonPath },
  texts: readonly string[],
): Where | undefined {
  const isList = operandOf(operator) === "values" && texts.length === 1;
  const values = isList ? splitList(texts[0] as string) : texts;
  const most = reading.limits.inValues;
  const read: Parsed<object> =
    values.length > most ? fail(`takes at most ${most} values`) : testAtPath(path, operator, values);
  if (read.ok) return { [column.name]: read.value };
  addProblem(reading, name, `"${name}" ${read.message}.`);
  return undefined;
}

/**
 * Splits the values of `field_in` and `field_nin` at commas. Commas and backslashes inside a value are escaped with a
 * backslash; before any other character, a backslash stands for itself.
 */
function splitList(text: string): string[] {
  if (text === "") return [];
  if (!text.includes("\\")) return text.split(",");
  const values: string[] = [];
  let value = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text[i] as string;
    const next = text[i + 1];
    if (unit === "\\" && (next === "\\" || next === ",")) {
      value += next;
      i++;
    } else if (unit === ",") {
      values.push(value);
      value = "";
    } else value += unit;
  }
  values.push(value);
  return values;
}
