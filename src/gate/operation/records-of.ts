import type { Row } from "../condition/where.ts";

/**
 * The `toJSON` of operations. A handler that returns one means its records: what was submitted, who asked and what the
 * rules said is not for callers.
 */
export function recordsOf(this: { readonly records: readonly Row[] }): readonly Row[] {
  return this.records;
}
