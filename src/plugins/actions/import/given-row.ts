import { isObject } from "../../../entity/index.ts";
import { BadRequestError, type FieldErrors } from "../../../kernel/index.ts";

/** One row of an import, before it is validated. */
export interface GivenRow {
  readonly data: Readonly<Record<string, unknown>>;
  /** The reasons why it cannot be read, by field. */
  readonly errors?: FieldErrors | undefined;
  /** Approximate characters of its text; 0 for rows that were given as objects. */
  readonly size: number;
}

/** A row from a parsed value. Only objects are valid. */
export function givenRow(value: unknown, size: number, problem?: string): GivenRow {
  if (problem !== undefined) return { data: {}, errors: { _: problem }, size };
  return isObject(value) ? { data: value, size } : { data: {}, errors: { _: "must be an object" }, size };
}

/** The body cannot be read any further. The message completes a sentence that begins with the row. */
export class BrokenBody extends BadRequestError {}

/** The error for a row that is larger than a body may be. */
export function rowTooLarge(limit: number): BrokenBody {
  return new BrokenBody(`is larger than ${limit} bytes`);
}

/** @throws BrokenBody for a row whose text is longer than the limit */
export function within(text: string, limit: number): string {
  if (text.length > limit) throw rowTooLarge(limit);
  return text;
}
