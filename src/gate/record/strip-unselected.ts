import type { Operation } from "../operation/operation.ts";

/** Columns that were fetched for cursors and joins only are not part of the answer. */
export function stripUnselected({ query, records, entity }: Pick<Operation, "query" | "records" | "entity">): void {
  if (query.select === undefined) return;
  const keep = new Set([...query.select, "id"]);
  for (const record of records)
    for (const name of Object.keys(record))
      if (Object.hasOwn(entity.columns, name) && !keep.has(name)) delete record[name];
}
