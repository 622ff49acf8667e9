import { ConflictError } from "./errors.ts";

/** A conflict names the fields the caller sent, and no others: those would tell about records the caller cannot see. */
export function onlyWhatWasSent(error: ConflictError, { data }: { readonly data: object }): ConflictError {
  const fields = error.fields.filter((field) => Object.hasOwn(data, field));
  return fields.length === error.fields.length
    ? error
    : new ConflictError(error.message, { fields, code: error.code, cause: error });
}
