import type { Operation } from "../operations/operation.ts";
import { ConflictError } from "./errors.ts";

/**
 * A conflict names the fields that the caller sent, or that were filled in and that they may read. Other names would tell
 * about records or fields that they cannot see.
 */
export function onlyWhatWasSent(
  error: ConflictError,
  { entity, scope, data, ignored }: Operation,
  submitted: Readonly<Record<string, unknown>>,
): ConflictError {
  const { readable } = scope.mask(entity);
  const isTold = (field: string): boolean =>
    Object.hasOwn(submitted, field) ? !ignored.includes(field) : Object.hasOwn(data, field) && readable.has(field);
  const fields = error.fields.filter(isTold);
  return fields.length === error.fields.length
    ? error
    : new ConflictError(error.message, { fields, code: error.code, cause: error });
}
