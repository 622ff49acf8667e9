import { isKeelsonError } from "../../../entity/index.ts";
import { ConflictError, type FieldErrors, ValidationFailedError } from "../../../kernel/index.ts";

/**
 * What is told about a row that was refused: a message per field, `_` for what is about the row as a whole, as in the
 * bodies of errors. Undefined for errors that are not about the row.
 * @param sent what was to be stored, when the gate has not seen the error: a conflict names no other field
 */
export function rowErrors(error: unknown, sent?: object): FieldErrors | undefined {
  if (!isKeelsonError(error) || error.status >= 500) return undefined;
  if (error instanceof ValidationFailedError) return error.errors;
  const isSent = (name: string): boolean => sent === undefined || Object.hasOwn(sent, name);
  const fields = error instanceof ConflictError ? error.fields.filter(isSent) : [];
  if (fields.length > 0) return Object.fromEntries(fields.map((name) => [name, "is already taken"]));
  return { _: error.message };
}
