import type { FieldErrors } from "../../../kernel/index.ts";

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
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (problem !== undefined) return { data: {}, errors: { _: problem }, size };
  return isObject ? { data: value as GivenRow["data"], size } : { data: {}, errors: { _: "must be an object" }, size };
}
