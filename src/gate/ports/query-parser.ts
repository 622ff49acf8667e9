import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationQuery } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { ParameterDescription, RouteReader } from "../operation/route-description.ts";

/**
 * Groups of query parameters; each surface declares which of them it accepts. "select" is "shape" without the
 * parameters that add related records, "deleted" is "filter" without conditions, and "aggregate" has the aggregates of
 * a count.
 */
export type QueryPart = "filter" | "sort" | "page" | "shape" | "select" | "deleted" | "aggregate";

/**
 * Parses a raw query string (without `?`) into this caller's query on an entity.
 * @throws BadRequestError with all problems of the query string
 */
export type ParseQuery = (
  search: string,
  entity: AnyEntity,
  scope: OperationScope,
) => OperationQuery | Promise<OperationQuery>;

/** The service `query`: parses query strings for surfaces with the same filters as lists, such as count and export. */
export interface QueryParser {
  /**
   * Makes a parser that accepts some groups of parameters.
   * @param others names of parameters that the surface parses itself
   */
  reads(parts: readonly QueryPart[], others?: readonly string[]): ParseQuery;
  /**
   * The parameters that such a parser accepts from a caller, without those that the caller may not use. Rare conditions
   * and conditions on related records are described in the schema of `_where` only:
   * docs/adr/0081-describe-conditions-as-one-schema.md
   * @param record makes the schema of `_where`; without it, `_where` is described as any text
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
