import type { AnyEntity } from "../../entity/index.ts";
import type { OperationQuery } from "../operation/operation.ts";
import type { SortKey } from "../statement/driver.ts";

/** Selected columns and those that cursors and included relations need; undefined = all. */
export function columnsToFetch(
  entity: AnyEntity,
  query: OperationQuery,
  order: readonly SortKey[],
): readonly string[] | undefined {
  if (query.select === undefined) return undefined;
  const columns = new Set(["id", ...query.select, ...order.map((key) => key.field)]);
  for (const name of Object.keys(query.include ?? {})) {
    const key = Object.values(entity.columns).find((column) => column.relation === name);
    if (key !== undefined) columns.add(key.name);
  }
  return [...columns];
}
