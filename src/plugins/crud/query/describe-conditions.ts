import { type JsonSchema, jsonSchemaOf, type Operator } from "../../../entity/index.ts";
import type { ParameterDescription } from "../../../gate/index.ts";
import type { Limits } from "../../../kernel/index.ts";
import type { Filter } from "./query-table.ts";
import type { Subject } from "./reading.ts";

/** What a condition says, as the end of a sentence that begins with the field. */
const MEANINGS: Readonly<Record<Operator, string>> = {
  eq: "is this, or one of these where the parameter is repeated",
  ne: "is not this",
  gt: "is greater than this",
  gte: "is this or greater",
  lt: "is less than this",
  lte: "is this or less",
  in: "is one of these",
  nin: "is none of these",
  like: "contains this text, whatever the case",
  starts: "begins with this text, whatever the case",
  ends: "ends with this text, whatever the case",
  null: "is empty (true) or not (false)",
};

const TEXT: JsonSchema = { type: "string" };
const TRUTH: JsonSchema = { type: "boolean" };

/**
 * One parameter per name that can be read as a condition; a name has its first reading, as it has in requests.
 * @param prefix of all names, for conditions through a relation
 */
export function describeConditions({ table, mask }: Subject, prefix: string, limits: Limits): ParameterDescription[] {
  const found = [...table.filters].flatMap(([name, readings]) => {
    const filter = readings.find(({ column }) => mask.filterable.has(column.name));
    return filter?.column.kind.operators.has(filter.operator) ? [{ name, filter }] : [];
  });
  const byField = Object.values(table.entity.columns).flatMap((column) =>
    found.filter(({ filter }) => filter.column === column),
  );
  return byField.map(({ name, filter }) => {
    const { schema, commas } = operand(filter, limits);
    const description = `${prefix}${filter.column.name} ${MEANINGS[filter.operator]}.`;
    return { name: prefix + name, schema, description, ...(commas ? { commas } : {}) };
  });
}

function operand(
  { column, operator }: Filter,
  limits: Limits,
): { readonly schema: JsonSchema; readonly commas?: boolean } {
  const one = jsonSchemaOf(column.kind);
  const most = column.role === "id" ? limits.maxPageSize : limits.inValues;
  const several = { type: "array", items: one, maxItems: most };
  switch (operator) {
    case "null":
      return { schema: TRUTH };
    case "like":
    case "starts":
    case "ends":
      return { schema: TEXT };
    case "in":
    case "nin":
      return { schema: several, commas: true };
    case "eq":
      return { schema: column.kind.operators.has("in") ? several : one };
    default:
      return { schema: one };
  }
}
