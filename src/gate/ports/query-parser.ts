import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationQuery } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { ParameterDescription, RouteReader } from "../operation/route-description.ts";

/**
 * Groups of parameters of the list dialect; a surface says which of them it takes. "select" is "shape" without what adds
 * related records, and "deleted" is "filter" without conditions; "aggregate" is what a count computes.
 */
export type QueryPart = "filter" | "sort" | "page" | "shape" | "select" | "deleted" | "aggregate";

/**
 * Reads a raw query string (without `?`) as this caller's query on an entity.
 * @throws BadRequestError naming everything that is wrong with it
 */
export type ParseQuery = (
  search: string,
  entity: AnyEntity,
  scope: OperationScope,
) => OperationQuery | Promise<OperationQuery>;

/** The service `query`: surfaces with the same filters as lists (count, export) read their query strings with it. */
export interface QueryParser {
  /**
   * A parser that takes some parts of the dialect.
   * @param others names of parameters that the surface reads itself
   */
  reads(parts: readonly QueryPart[], others?: readonly string[]): ParseQuery;
  /**
   * The parameters that such a parser accepts from a caller, without those they may not use. Conditions that are rare or
   * about related records are in the schema of `_where` alone: docs/adr/0081-describe-conditions-as-one-schema.md
   * @param record makes the schema of `_where`; without it, `_where` is any text
   */
  describe(
    parts: readonly QueryPart[],
    entity: AnyEntity,
    scope: OperationScope,
    record?: RouteReader["record"],
  ): Promise<readonly ParameterDescription[]>;
  /** The relations whose records a caller may include. */
  includes(entity: AnyEntity, scope: OperationScope): Promise<readonly ResolvedRelation[]>;
}

/** The token of QueryParser. */
export const QueryParser: ServiceToken<QueryParser> = token("query");
