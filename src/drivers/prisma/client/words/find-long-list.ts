import type { AnyEntity, ColumnDefinition } from "../../../../entity/index.ts";
import { type Row, type SortKey, totalOrder } from "../../../../gate/index.ts";
import type { Args, ModelApi } from "./client-shape.ts";

// A condition may list more ids than a statement takes parameters. Prisma then asks in several statements, unless the
// rows have an order or are counted: that it refuses (P2029). What follows leaves the order to us.

/** Whether Prisma refused a statement for its number of parameters. */
export function isTooLong(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "P2029";
}

function compare(column: ColumnDefinition, a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return column.kind.compare(a, b);
}

/** One page of the rows that match, put in order here. */
export async function findLongList(
  api: ModelApi,
  entity: AnyEntity,
  where: Args,
  page: {
    readonly columns: Args;
    readonly sort: readonly SortKey[] | undefined;
    readonly limit: number | undefined;
    readonly offset: number;
  },
): Promise<Row[]> {
  const keys = totalOrder(page.sort);
  const sorting = Object.fromEntries(keys.map(({ field }) => [field, true]));
  const rows = await api.findMany({ where, select: { ...page.columns, ...sorting } });
  rows.sort((first, second) => {
    for (const { field, direction } of keys) {
      const order = compare(entity.columns[field] as ColumnDefinition, first[field], second[field]);
      if (order !== 0) return direction === "desc" ? -order : order;
    }
    return 0;
  });
  const names = Object.keys(page.columns);
  return rows
    .slice(page.offset, page.limit === undefined ? undefined : page.offset + page.limit)
    .map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
}

/** How many rows match. */
export async function countLongList(api: ModelApi, where: Args): Promise<number> {
  return (await api.findMany({ where, select: { id: true } })).length;
}
