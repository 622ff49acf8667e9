import type { Limits } from "../../kernel/index.ts";
import { BadRequestError } from "../../kernel/index.ts";
import type { Condition } from "../condition/condition.ts";
import type { IncludeTree, OperationQuery } from "../operation/operation.ts";

/** An upper bound of the objects and list items that a `where` within the limits can have. */
export function mostParts({ conditions, inValues, maxPageSize }: Limits): number {
  return conditions * (8 + Math.max(inValues, maxPageSize));
}

/**
 * Checks a query against the app's limits, so that surfaces without limits of their own cannot build huge statements.
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

/** Empty lists count, too, since a query may contain very many of them. */
function countConditions(condition: Condition, limits: Limits): number {
  switch (condition.op) {
    case "and":
    case "or":
      return condition.of.reduce((count, part) => count + countConditions(part, limits), 0);
    case "not":
      return countConditions(condition.of, limits);
    case "related":
      return 1 + countConditions(condition.matches, limits);
    case "compare": {
      const { column, test, value } = condition;
      // A list of ids may be as long as a page.
      const most = column.role === "id" ? limits.maxPageSize : limits.inValues;
      if (test === "in" && (value as readonly unknown[]).length > most)
        throw new BadRequestError(`"in" on "${column.name}" takes at most ${most} values`);
      return 1;
    }
    default:
      return 1;
  }
}
