import type { AnyEntity } from "../../entity/index.ts";
import type { FieldMask } from "../operation/mask.ts";
import type { OperationQuery } from "../operation/operation.ts";
import type { SortKey } from "../statement/driver.ts";
import { mostBytes } from "../statement/row-bytes.ts";

/** Values that may have more bytes are not read for callers whom no record shows them. */
const LONG = 4_096;

/**
 * Selected columns and those that cursors and included relations need; undefined = all.
 * @param mask of callers whose answer is counted in bytes: long columns that it never lets out are not read
 */
export function columnsToFetch(
  entity: AnyEntity,
  query: OperationQuery,
  order: readonly SortKey[],
  mask?: FieldMask,
): readonly string[] | undefined {
  if (query.select === undefined) return mask && withoutUnseen(entity, mask);
  const columns = new Set(["id", ...query.select, ...order.map((key) => key.field)]);
  for (const name of Object.keys(query.include ?? {})) {
    const key = Object.values(entity.columns).find((column) => column.relation === name);
    if (key !== undefined) columns.add(key.name);
  }
  return [...columns];
}

function withoutUnseen({ columns }: AnyEntity, { readable }: FieldMask): readonly string[] | undefined {
  const all = Object.values(columns);
  const kept = all.filter((column) => readable.has(column.name) || mostBytes(column) <= LONG);
  return kept.length === all.length ? undefined : kept.map(({ name }) => name);
}
