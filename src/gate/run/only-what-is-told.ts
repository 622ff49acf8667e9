import { ConflictError } from "../../kernel/index.ts";
import type { Operation } from "../operation/operation.ts";

/** What a conflict may tell a caller of. */
export interface ToldOfConflicts {
  /** Values before any were filled in or dropped. */
  readonly submitted: Readonly<Record<string, unknown>>;
  /** Fields that the caller may read. */
  readonly readable: ReadonlySet<string>;
}

/**
 * A conflict names the fields that the caller sent, or that were filled in and that they may read. Other names would tell
 * about records or fields that they cannot see.
 */
export function onlyWhatIsTold(
  error: ConflictError,
  { data, ignored }: Operation,
  { submitted, readable }: ToldOfConflicts,
): ConflictError {
  const isTold = (field: string): boolean =>
    Object.hasOwn(submitted, field) ? !ignored.includes(field) : Object.hasOwn(data, field) && readable.has(field);
  const fields = error.fields.filter(isTold);
  return fields.length === error.fields.length
    ? error
    : new ConflictError(error.message, { fields, code: error.code, cause: error });
}
