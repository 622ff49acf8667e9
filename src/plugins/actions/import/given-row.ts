import { isObject } from "../../../entity/index.ts";
import { BadRequestError, type FieldErrors } from "../../../kernel/index.ts";

/** One row of an import as it was given, before any rule has seen it. */
export interface GivenRow {
  readonly data: Readonly<Record<string, unknown>>;
  /** What keeps it from being read, by field. */
  readonly errors?: FieldErrors | undefined;
  /** Characters it came in, about; 0 when it came as an object. */
  readonly size: number;
}

/** A row from a parsed value: objects only. */
export function givenRow(value: unknown, size: number, problem?: string): GivenRow {
  if (problem !== undefined) return { data: {}, errors: { _: problem }, size };
  return isObject(value) ? { data: value, size } : { data: {}, errors: { _: "must be an object" }, size };
}

/** The body cannot be read any further. The message is the end of a sentence that begins with the row. */
export class BrokenBody extends BadRequestError {}

/** For a row that is larger than a body may be. */
export function rowTooLarge(limit: number): BrokenBody {
  return new BrokenBody(`is larger than ${limit} bytes`);
}

/** @throws BrokenBody for the text of a row that is longer than the limit */
export function within(text: string, limit: number): string {
  if (text.length > limit) throw rowTooLarge(limit);
  return text;
}
