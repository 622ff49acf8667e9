import type { AnyEntity } from "../../entity/index.ts";
import { BadRequestError, type SortKey, totalOrder } from "../../kernel/index.ts";
import type { Args } from "./client-shape.ts";
import type { Dialect } from "./dialect.ts";

/**
 * An order in Prisma's words, total by ending with the id; null is the smallest value.
 * @throws BadRequestError for what is no sortable column
 */
export function toPrismaSort(entity: AnyEntity, sort: readonly SortKey[] | undefined, dialect: Dialect): Args[] {
  return totalOrder(sort).map(({ field, direction }) => {
    const column = Object.hasOwn(entity.columns, field) ? entity.columns[field] : undefined;
    if (column?.kind.sortable !== true) throw new BadRequestError(`${entity.name} cannot be sorted by "${field}"`);
    if (!column.optional || !dialect.ordersNulls) return { [field]: direction };
    return { [field]: { sort: direction, nulls: direction === "asc" ? "first" : "last" } };
  });
}
