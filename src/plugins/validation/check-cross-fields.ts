import type { CrossFieldContext, CrossFieldValidator } from "../../entity/index.ts";
import { expectUnchanged, type Operation, observe, storedRecord } from "../../gate/index.ts";
import { ValidationFailedError, type ValidationIssue } from "../../kernel/index.ts";
import { changedRecord } from "./changed-record.ts";
import { passesCrossField } from "./passes-cross-field.ts";

/**
 * Runs predicates over the whole record: on create over what will be stored, on update over the stored record with the
 * changes in it. Stored columns that a predicate looked at must still be so when the statement runs; of two updates that
 * would break a rule together, the second is validated again. The record they see cannot be changed.
 * @throws ValidationFailedError with one issue per predicate that is not strictly true
 */
export async function checkCrossFields(
  validators: readonly CrossFieldValidator[],
  operation: Operation,
): Promise<void> {
  const existing = operation.kind === "update" ? await storedRecord(operation) : {};
  if (existing === null) return; // there is nothing this caller may change; the statement says so
  const { log } = operation.scope;
  const seen = observe(operation.entity, changedRecord(operation.entity, existing, operation.data));
  const context: CrossFieldContext = {
    operation: operation.kind as "create" | "update",
    user: operation.principal.user,
  };
  const issues: ValidationIssue[] = [];
  for (const validator of validators)
    if (!(await passesCrossField(validator, seen.record, context, { log, entity: operation.entity.name })))
      issues.push({ path: pathOf(validator, operation), code: "custom", message: validator.message });
  if (issues.length > 0) throw new ValidationFailedError(issues);
  if (operation.kind === "update") expectUnchanged(operation, seen, operation.data);
}

/** The field a message belongs to; a field this caller cannot see must not be named. */
function pathOf({ fields }: CrossFieldValidator, { scope, entity, principal }: Operation): readonly string[] {
  const [field] = fields;
  if (field === undefined) return [];
  const { readable, writable } = scope.mask(entity);
  return principal.kind === "system" || readable.has(field) || writable.has(field) ? [field] : [];
}
