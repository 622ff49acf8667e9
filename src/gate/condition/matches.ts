import type { ResolvedRelation } from "../../entity/index.ts";
import { DecryptionError } from "../../kernel/index.ts";
import { type Compare, type Condition, type Related, type Row, someLeaf } from "./condition.ts";
import { storedValue } from "./json-path.ts";
import { passesTest } from "./passes-test.ts";

/** Finds the related rows of a row. */
export type RelatedRows = (relation: ResolvedRelation, row: Row) => readonly Row[];

/** Caches which rows met conditions on related rows; valid while no row changes. */
export type KnownAnswers = Map<Condition, Map<Row, boolean>>;

/**
 * Whether a row meets a condition; evaluates in memory what drivers send to databases.
 * @param known caches results for rows that several others refer to @default no cache
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
 * Like `matches`, for a row without its relations. Returns undefined when the condition uses relations or a value that
 * could not be decrypted.
 */
export function matchesAlone(condition: Condition, row: Row): boolean | undefined {
  const asksBeyond = someLeaf(condition, (leaf) => leaf.op === "related" || isUndecryptable(row, leaf.column.name));
  return asksBeyond ? undefined : matches(condition, row, () => []);
}

/** Whether a record has all columns that a condition uses. */
export function needsOnly(condition: Condition, row: Row): boolean {
  return !someLeaf(condition, (leaf) => leaf.op === "related" || !(leaf.column.name in row));
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

function holds({ column, test, value: operand }: Compare, value: unknown): boolean {
  if (isAbsent(value)) return test === "eq" && operand === null;
  return operand !== null && passesTest(column.kind, test, value, operand);
}

// Enumerable like the tag, so that copies keep it.
const kUndecryptable: unique symbol = Symbol("keelson.undecryptable");

/** Marks the columns of a row that are null because their stored values cannot be decrypted. */
export function noteUndecryptable(row: Row, columns: ReadonlySet<string>): void {
  (row as Record<symbol, unknown>)[kUndecryptable] = columns;
}

/** Whether a column is null because it could not be decrypted, and has not been set since. */
export function isUndecryptable(row: Row, column: string): boolean {
  const columns = (row as Record<symbol, unknown>)[kUndecryptable] as ReadonlySet<string> | undefined;
  return columns?.has(column) === true && row[column] === null;
}

/**
 * Returns a row for use in decisions. A column that could not be decrypted is null in responses; a rule would mistake
 * it for an empty value, so reading it here throws a DecryptionError. Rows without such columns are returned unchanged.
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
