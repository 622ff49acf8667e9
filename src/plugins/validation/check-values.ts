import type { Operation } from "../../gate/index.ts";
import { ValidationFailedError, type ValidationIssue } from "../../kernel/index.ts";
import type { InputColumn } from "./check-value.ts";
import type { InputPlan } from "./input-plan.ts";

const REQUIRED = { code: "required", message: "is required" } as const;

/**
 * Checks all values and replaces them by what is stored. A create becomes a complete record, with defaults and nulls; an
 * update stays what it is, a set of changes.
 * @throws ValidationFailedError naming every problem
 */
export function checkValues(plan: InputPlan, operation: Operation): void {
  const issues: ValidationIssue[] = [];
  if (operation.kind === "create") complete(plan.columns, operation.data, issues);
  checkGiven(plan.byName, operation.data, issues);
  if (issues.length > 0) throw new ValidationFailedError(issues.map((issue) => withoutHiddenName(issue, operation)));
}

/** A required field that the caller may neither read nor write is missing: its name must not be told. */
function withoutHiddenName(issue: ValidationIssue, { entity, principal, scope }: Operation): ValidationIssue {
  const name = String(issue.path[0]);
  const { readable, writable } = scope.mask(entity);
  if (principal.kind === "system" || readable.has(name) || writable.has(name)) return issue;
  return { path: [], code: issue.code, message: "a required value is missing that you may not set" };
}

/** Checks values of columns by name and completes them with defaults and nulls; problems are added to the list. */
export function checkComplete(
  columns: ReadonlyMap<string, InputColumn>,
  data: Record<string, unknown>,
  issues: ValidationIssue[],
): void {
  complete([...columns.values()], data, issues);
  checkGiven(columns, data, issues);
}

function complete(columns: readonly InputColumn[], data: Record<string, unknown>, issues: ValidationIssue[]): void {
  for (const { name, optional, makeDefault } of columns) {
    if (data[name] !== undefined) continue;
    const value = makeDefault?.();
    if (value !== undefined && value !== null) data[name] = value;
    else if (optional) data[name] = null;
    else issues.push({ path: [name], ...REQUIRED });
  }
}

function checkGiven(
  byName: ReadonlyMap<string, InputColumn>,
  data: Record<string, unknown>,
  issues: ValidationIssue[],
): void {
  for (const name of Object.keys(data)) {
    const column = byName.get(name);
    if (column === undefined) continue; // links, and what other plugins added
    const value = data[name];
    if (value !== null) data[name] = column.check(value, issues);
    else if (!column.optional) issues.push({ path: [name], ...REQUIRED });
  }
}
