import { ConflictError } from "./errors.ts";

/**
 * A conflict names the fields that the caller sent, or that were filled in and that they may read. Other names would tell
 * about records or fields that they cannot see.
 */
export function onlyWhatWasSent(
  error: ConflictError,
  sent: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, unknown>>,
  readable: ReadonlySet<string>,
): ConflictError {
  const isTold = (field: string): boolean =>
    Object.hasOwn(sent, field) || (Object.hasOwn(stored, field) && readable.has(field));
  const fields = error.fields.filter(isTold);
  return fields.length === error.fields.length
    ? error
    : new ConflictError(error.message, { fields, code: error.code, cause: error });
}
