import { BadRequestError } from "../errors/errors.ts";
import type { Limits } from "../limits.ts";
import type { IncludeTree, OperationQuery } from "../operations/operation.ts";
import type { Condition } from "./condition.ts";

/**
 * Holds a query to the limits of the app, so that what a surface forgets to bound cannot become an enormous statement.
 * @throws BadRequestError
 */
export function checkLimits({ sort = [], include }: OperationQuery, where: Condition, limits: Limits): void {
  const { conditions, sortKeys, includes } = limits;
  if (sort.length > sortKeys) throw new BadRequestError(`A query takes at most ${sortKeys} sort keys`);
  if (include !== undefined && countIncludes(include, 1, limits) > includes)
    throw new BadRequestError(`A query includes at most ${includes} relations`);
  if (countConditions(where, limits) > conditions)
    throw new BadRequestError(`A query takes at most ${conditions} conditions`);
}

function countIncludes(include: IncludeTree, depth: number, limits: Limits): number {
  const inner = Object.values(include);
  if (inner.length > 0 && depth > limits.includeDepth)
    throw new BadRequestError(`include goes deeper than ${limits.includeDepth} levels`);
  return inner.reduce((count, tree) => count + countIncludes(tree, depth + 1, limits), inner.length);
}

/** Empty lists count too: there may be very many of them. */
function countConditions(where: Condition, limits: Limits): number {
  switch (where.kind) {
    case "and":
    case "or":
      return Math.max(
        1,
        where.parts.reduce((count, part) => count + countConditions(part, limits), 0),
      );
    case "related":
      return countConditions(where.where, limits);
    case "null":
      return 1;
    case "compare": {
      const { column, operator, value } = where;
      // A list of ids is a page the caller has picked: as long as a page may be.
      const most = column.role === "id" ? limits.maxPageSize : limits.inValues;
      if (operator === "in" && (value as readonly unknown[]).length > most)
        throw new BadRequestError(`"in" on "${column.name}" takes at most ${most} values`);
      return 1;
    }
  }
}
