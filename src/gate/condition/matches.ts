import type { ResolvedRelation } from "../../entity/index.ts";
import { DecryptionError } from "../../kernel/index.ts";
import { type Compare, type Condition, type Related, type Row, visitCondition } from "./condition.ts";
import { storedValue } from "./json-path.ts";
import { passesTest } from "./passes-test.ts";

/** Finds the related rows of a row; what the memory driver knows. */
export type RelatedRows = (relation: ResolvedRelation, row: Row) => readonly Row[];

/** Which rows have met conditions on related rows, for as long as no row changes. */
export type KnownAnswers = Map<Condition, Map<Row, boolean>>;

/**
 * Whether a row satisfies a condition; the in-memory twin of what drivers send to databases.
 * @param known saves asking again about a row that several others lead to @default each row is asked about each time
 */
export function matches(condition: Condition, row: Row, related: RelatedRows, known?: KnownAnswers): boolean {
  switch (condition.op) {
    case "and":
      return condition.of.every((part) => matches(part, row, related, known));
    case "or":
      return condition.of.some((part) => matches(part, row, related, known));
    case "not":
      return !matches(condition.of, row, related, known);
    case "compare":
      return holds(condition, storedValue(row, condition.column));
    case "related":
      return meetsRelated(condition, row, related, known);
    default:
      return condition.op === "always";
  }
}

function meetsRelated(condition: Related, row: Row, related: RelatedRows, known: KnownAnswers | undefined): boolean {
  const answers = known?.get(condition) ?? new Map<Row, boolean>();
  known?.set(condition, answers);
  const answer =
    answers.get(row) ??
    related(condition.relation, row).some((other) => matches(condition.matches, other, related, known));
  answers.set(row, answer);
  return answer;
}

/**
 * As `matches`, for a row without its relations; undefined when the condition uses them, or a value that could not be
 * decrypted.
 */
export function matchesAlone(condition: Condition, row: Row): boolean | undefined {
  let asksBeyond = false;
  visitCondition(condition, (leaf) => {
    asksBeyond ||= leaf.op === "related" || isUndecryptable(row, leaf.column.name);
  });
  return asksBeyond ? undefined : matches(condition, row, () => []);
}

/** Whether a record has all columns that a condition looks at. */
export function needsOnly(condition: Condition, row: Row): boolean {
  let hasAll = true;
  visitCondition(condition, (leaf) => {
    hasAll &&= leaf.op === "compare" && leaf.column.name in row;
  });
  return hasAll;
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

function holds({ column, test, value: operand }: Compare, value: unknown): boolean {
  if (isAbsent(value)) return test === "eq" && operand === null;
  return operand !== null && passesTest(column.kind, test, value, operand);
}

// Enumerable like the tag: a copy has the same nulls in it.
const kUndecryptable: unique symbol = Symbol("keelson.undecryptable");

/** Notes which columns of a row are null only because what is stored in them cannot be decrypted. */
export function noteUndecryptable(row: Row, columns: ReadonlySet<string>): void {
  (row as Record<symbol, unknown>)[kUndecryptable] = columns;
}

/** Whether a column is such a null, and has not been given another value since. */
export function isUndecryptable(row: Row, column: string): boolean {
  const columns = (row as Record<symbol, unknown>)[kUndecryptable] as ReadonlySet<string> | undefined;
  return columns?.has(column) === true && row[column] === null;
}

/**
 * A row as code that decides by it may see it. A column that could not be decrypted is null, which is for responses
 * only: a rule would take it for an empty value, so reading it throws a DecryptionError. Other rows are returned as
 * they are.
 */
export function forDecisions(row: Row): Row {
  if (!(kUndecryptable in row)) return row;
  return new Proxy(row, {
    get(target, name) {
      if (typeof name === "string" && isUndecryptable(target, name))
        throw new DecryptionError(`"${name}" cannot be decrypted, and nothing is decided by it`);
      return Reflect.get(target, name);
    },
  });
}
