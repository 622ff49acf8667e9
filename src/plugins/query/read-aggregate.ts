import type { JsonSchema } from "../../entity/index.ts";
import { type AggregateQuery, BUCKETS, type OperationScope, type ParameterDescription } from "../../gate/index.ts";
import { addProblem, items, type Reading, single } from "./query-table.ts";

/** Parameters of an aggregate, except conditions. */
export const AGGREGATE = [
  "group",
  "count",
  "sum",
  "avg",
  "min",
  "max",
  "having",
  "_sort",
  "_limit",
  "_start",
  "_zone",
] as const;

const WHOLE = /^(?:0|[1-9]\d{0,8})$/;

/** Reads `group=customerId,month(createdAt)&count&sum=total&having={"count":{"gte":2}}&_sort=-sum.total`. */
export function readAggregate(reading: Reading): AggregateQuery {
  const whole = (name: string): number | undefined => {
    const text = single(reading, name);
    if (text === undefined) return undefined;
    if (WHOLE.test(text)) return Number(text);
    addProblem(reading, name, `"${name}" must be a whole number.`);
    return undefined;
  };
  return {
    group: items(reading, "group"),
    count: readCount(reading),
    sum: items(reading, "sum"),
    avg: items(reading, "avg"),
    min: items(reading, "min"),
    max: items(reading, "max"),
    having: readHaving(reading),
    sort: items(reading, "_sort").map((name) =>
      name.startsWith("-") ? { field: name.slice(1), direction: "desc" } : { field: name, direction: "asc" },
    ),
    limit: whole("_limit"),
    offset: whole("_start"),
    zone: single(reading, "_zone"),
  };
}

/** `count`, or `count=true`. */
function readCount(reading: Reading): boolean {
  const text = single(reading, "count");
  if (text !== undefined && text !== "true" && text !== "false")
    addProblem(reading, "count", '"count" takes true and false only; for a field of this name, use "_where".');
  return reading.parameters.has("count") && text !== "false";
}

function readHaving(reading: Reading): AggregateQuery["having"] {
  const text = single(reading, "having");
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as AggregateQuery["having"];
  } catch {
    addProblem(reading, "having", '"having" must be JSON, such as {"count":{"gte":2}}.');
    return undefined;
  }
}

const TEXT: JsonSchema = { type: "string" };
const list = (description: string, name: string): ParameterDescription => ({
  name,
  schema: { type: "array", items: TEXT },
  commas: true,
  description,
  shared: true,
});

/** The parameters of an aggregate, for documentation. */
export function describeAggregate({ app: { limits } }: OperationScope): readonly ParameterDescription[] {
  return [
    list(
      `What to group by: fields, or parts of the calendar such as \`month(createdAt)\` (${BUCKETS.join(", ")}).`,
      "group",
    ),
    { name: "count", schema: { type: "boolean" }, description: "Counts the records of each group.", shared: true },
    list("Fields to add up.", "sum"),
    list("Fields to take the average of.", "avg"),
    list("Fields to find the least value of.", "min"),
    list("Fields to find the greatest value of.", "max"),
    {
      name: "having",
      schema: TEXT,
      description: 'Tests that groups have to pass, as JSON: `{"count":{"gte":2},"sum.total":{"lt":100}}`.',
      shared: true,
    },
    list("Groups and measures to sort by, such as `-sum.total`.", "_sort"),
    {
      name: "_limit",
      schema: { type: "integer", minimum: 1, maximum: limits.maxPageSize, default: limits.pageSize },
      description: "Groups of a page.",
    },
    { name: "_start", schema: { type: "integer", minimum: 0 }, description: "How many groups to skip." },
    {
      name: "_zone",
      schema: TEXT,
      description: "IANA time zone of the calendar, such as `Europe/Berlin`; UTC by default.",
      shared: true,
    },
  ];
}
