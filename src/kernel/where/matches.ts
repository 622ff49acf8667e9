import type { ResolvedRelation } from "../../entity/index.ts";
import type { Row } from "../ports/driver.ts";
import { isUndecryptable } from "../records/undecryptable.ts";
import type { Condition } from "./condition.ts";

/** Finds the related rows of a row; what the memory driver knows. */
export type RelatedRows = (relation: ResolvedRelation, row: Row) => readonly Row[];

/** Whether a row satisfies a condition; the in-memory twin of what drivers send to databases. */
export function matches(condition: Condition, row: Row, related: RelatedRows): boolean {
  switch (condition.kind) {
    case "and":
      return condition.parts.every((part) => matches(part, row, related));
    case "or":
      return condition.parts.some((part) => matches(part, row, related));
    case "null":
      return isAbsent(row[condition.column.name]) !== condition.negated;
    case "related": {
      const found = related(condition.relation, row).some((other) => matches(condition.where, other, related));
      return found === (condition.quantifier === "some");
    }
    case "compare":
      return holds(condition, row[condition.column.name]) !== condition.negated;
  }
}

/**
 * As `matches`, for a row without its relations; undefined when the condition asks for them, or for a value that could
 * not be decrypted.
 */
export function matchesAlone(condition: Condition, row: Row): boolean | undefined {
  return asksBeyond(condition, row) ? undefined : matches(condition, row, () => []);
}

function asksBeyond(condition: Condition, row: Row): boolean {
  if ("parts" in condition) return condition.parts.some((part) => asksBeyond(part, row));
  return condition.kind === "related" || isUndecryptable(row, condition.column.name);
}

/** Whether a record has all columns that a condition looks at. */
export function needsOnly(condition: Condition, row: Row): boolean {
  if ("parts" in condition) return condition.parts.every((part) => needsOnly(part, row));
  return condition.kind !== "related" && condition.column.name in row;
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

function holds(condition: Condition & { kind: "compare" }, value: unknown): boolean {
  if (isAbsent(value)) return false;
  const { operator, value: operand } = condition;
  const { compare } = condition.column.kind;
  switch (operator) {
    case "eq":
      return compare(value, operand) === 0;
    case "gt":
      return compare(value, operand) > 0;
    case "gte":
      return compare(value, operand) >= 0;
    case "lt":
      return compare(value, operand) < 0;
    case "lte":
      return compare(value, operand) <= 0;
    case "in":
      return (operand as readonly unknown[]).some((one) => compare(value, one) === 0);
    case "like":
      return fold(value).includes(fold(operand));
    case "starts":
      return fold(value).startsWith(fold(operand));
    case "ends":
      return fold(value).endsWith(fold(operand));
  }
}

function fold(text: unknown): string {
  return String(text).toLowerCase();
}
