import type { EncryptedColumn } from "./encryption-plan.ts";

/** Columns to fetch, and those of them that nobody asked for. */
export interface Fetched {
  readonly select: readonly string[] | undefined;
  readonly extra: readonly string[];
}

/**
 * Selected columns with those that it takes to open them: the id, which values may be bound to, and the blind index of a
 * value. A value that the rows were found by is opened in any case.
 */
export function withCompanions(
  columns: readonly EncryptedColumn[] = [],
  select: readonly string[] | undefined,
  searched: ReadonlySet<string>,
): Fetched {
  if (select === undefined || columns.length === 0) return { select, extra: [] };
  const all = new Set([...select, "id"]);
  for (const { name, index } of columns)
    if (index !== undefined && (all.has(name) || searched.has(name))) all.add(name).add(index);
  return { select: [...all], extra: [...all].filter((name) => !select.includes(name)) };
}
