import type { AnyEntity, ColumnDefinition, EntityModel, Operator, ResolvedRelation } from "../../../entity/index.ts";
import { OPERATORS } from "../../../entity/index.ts";

/** One way to read a parameter's name: a condition on a column. */
export interface Filter {
  readonly column: ColumnDefinition;
  readonly operator: Operator;
}

/** Everything about an entity's query parameters that does not depend on the caller. */
export interface QueryTable {
  readonly entity: AnyEntity;
  /** Readings of a name, the exact field name first (`foo_ne` may be a field, or `foo` with an operator). */
  readonly filters: ReadonlyMap<string, readonly Filter[]>;
  /** Columns that `q` looks into. */
  readonly searchable: readonly string[];
  readonly relations: ReadonlyMap<string, ResolvedRelation>;
}

/** Operators that have a suffix; `eq` is the bare name. */
export const SUFFIXES: readonly Operator[] = OPERATORS.filter((operator) => operator !== "eq");

/** Works out the parameter names of an entity. Done once per entity when the app starts. */
export function compileQueryTable(model: EntityModel, entity: AnyEntity): QueryTable {
  const columns = Object.values(entity.columns);
  const filters = new Map<string, Filter[]>();
  const add = (name: string, filter: Filter): void => {
    filters.set(name, [...(filters.get(name) ?? []), filter]);
  };
  for (const column of columns) add(column.name, { column, operator: "eq" });
  for (const column of columns)
    for (const operator of SUFFIXES) add(`${column.name}_${operator}`, { column, operator });
  return Object.freeze({
    entity,
    filters,
    searchable: columns.filter(({ kind }) => kind.searchable).map(({ name }) => name),
    relations: new Map(model.relationsOf(entity).map((relation) => [relation.name, relation])),
  });
}
