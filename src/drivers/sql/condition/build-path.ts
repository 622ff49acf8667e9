import type { ArgType } from "@prisma/driver-adapter-utils";
import type { RawBuilder } from "kysely";
import type { JsonPath, Provider } from "../../../entity/index.ts";
import type { Compare } from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { patternOf, SIGNS } from "./patterns.ts";
import type { Places, SqlBuilder } from "./sql-builder.ts";

// Conditions on JSON paths have the same meaning on every database: a name is a member of an object, a number is a
// position in an array, and values are compared with values of their type. Names are always parameters, never parts of
// a statement.

const TEXT: ArgType = Object.freeze({ scalarType: "string", arity: "scalar" });
const WHOLE: ArgType = Object.freeze({ scalarType: "int", arity: "scalar" });
const NUMBER: ArgType = Object.freeze({ scalarType: "float", arity: "scalar" });

/** The paths that must be arrays: MySQL treats a value that is not an array as its own first item. */
function arraysIn(path: JsonPath): readonly JsonPath[] {
  return path.flatMap((step, index) => (typeof step === "number" ? [path.slice(0, index)] : []));
}

/** @throws BadRequestError for names that MariaDB cannot find */
function mysqlPath(path: JsonPath): string {
  if (path.some((step) => typeof step === "string" && step.startsWith("-")))
    throw new BadRequestError('MariaDB finds no members of JSON whose name begins with "-"; rename them');
  return `$${path.map((step) => (typeof step === "number" ? `[${step}]` : `.${JSON.stringify(step)}`)).join("")}`;
}

/** The shape of a condition on a path; its values are collected in the order in which `buildAtPath` requests slots. */
export function pathShape(condition: Compare, path: JsonPath, provider: Provider, values: unknown[]): string {
  const { column, test, value } = condition;
  if (provider === "mysql") {
    for (const array of arraysIn(path)) values.push(mysqlPath(array));
    values.push(mysqlPath(path));
    if (value !== null) values.push(mysqlPath(path));
  } else values.push(...path);
  if (value !== null) values.push(patternOf(condition, provider) ?? operandOf(value, provider));
  const steps = path.map((step) => (typeof step === "number" ? "#" : "."));
  return `${column.name}${steps.join("")}${test}${value === null ? "?" : typeof value},`;
}

/** Passes numbers to PostgreSQL as text, so that it compares numbers of any size. */
function operandOf(value: unknown, provider: Provider): unknown {
  return typeof value === "number" && provider !== "postgresql" ? value : String(value);
}

/** Builds a condition that the value at a path is absent or null, or passes a test; its result is never unknown. */
export function buildAtPath(
  builder: SqlBuilder,
  slots: Places,
  condition: Compare,
  column: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return WRITERS[builder.provider](builder, slots, condition, column);
}

type Writer = typeof buildAtPath;

const postgresql: Writer = ({ sql }, slots, { column: { path = [] }, test, value }, column) => {
  const steps = path.map((step, index) => {
    const from = sql.id(`s${index}`, "value");
    // A value that is not an array would be its own first item.
    const member =
      typeof step === "number"
        ? sql`case jsonb_typeof(${from}) when 'array' then ${from} -> cast(${slots.next(WHOLE)} as int) end`
        : sql`${from} -> cast(${slots.next(TEXT)} as text)`;
    return sql`, lateral (select ${member} as value) as ${sql.id(`s${index + 1}`)}`;
  });
  const found = sql`(select cast(${column} as jsonb) as value) as s0${sql.join(steps, sql``)}`;
  const own = sql.id(`s${path.length}`, "value");
  const type = sql`jsonb_typeof(${own})`;
  if (value === null) return sql`not exists (select 1 from ${found} where ${type} <> 'null')`;
  const text = sql`(${own} #>> '{}')`;
  const sign = sql.raw(SIGNS[test] ?? "ilike");
  const slot = slots.next(TEXT);
  const compared =
    typeof value === "number"
      ? sql`cast(${text} as numeric) ${sign} cast(cast(${slot} as text) as numeric)`
      : sql`${text} collate "C" ${sign} cast(${slot} as text)`;
  return sql`exists (select 1 from ${found} where case ${type} when ${sql.lit(typeof value)} then ${compared} else false end)`;
};

const sqlite: Writer = ({ sql }, slots, { column: { path = [] }, test, value }, column) => {
  const tables = path.map((step, index) => {
    const [type, empty] = typeof step === "number" ? ["array", "[]"] : ["object", "{}"];
    const [is, of] =
      index === 0
        ? [sql`json_type(${column})`, column]
        : [sql.id(`s${index - 1}`, "type"), sql.id(`s${index - 1}`, "value")];
    return sql`json_each(case when ${is} = ${sql.lit(type)} then ${of} else ${sql.lit(empty)} end) as ${sql.id(`s${index}`)}`;
  });
  const keys = path.map(
    (step, index) => sql`${sql.id(`s${index}`, "key")} = ${slots.next(typeof step === "number" ? WHOLE : TEXT)}`,
  );
  const last = `s${path.length - 1}`;
  const [type, own] = [sql.id(last, "type"), sql.id(last, "value")];
  const at = sql`select 1 from ${sql.join(tables)} where ${sql.join(keys, sql` and `)}`;
  if (value === null) return sql`not exists (${at} and ${type} <> 'null')`;
  const sign = SIGNS[test];
  if (typeof value === "boolean") return sql`exists (${at} and ${type} = ${slots.next(TEXT)})`;
  if (typeof value === "number")
    return sql`exists (${at} and ${type} in ('integer', 'real') and ${own} ${sql.raw(sign ?? "=")} ${slots.next(NUMBER)})`;
  const compared =
    sign === undefined
      ? sql`${own} like ${slots.next(TEXT)} escape '!'`
      : sql`${own} ${sql.raw(sign)} ${slots.next(TEXT)}`;
  return sql`exists (${at} and ${type} = 'text' and ${compared})`;
};

const mysql: Writer = ({ sql, collation }, slots, { column: { path = [] }, test, value }, column) => {
  const at = () => sql`json_extract(${column}, ${slots.next(TEXT)})`;
  const arrays = arraysIn(path).map(() => sql`coalesce(json_type(${at()}) = 'ARRAY', false) and `);
  const within = sql.join(arrays, sql``);
  const type = sql`json_type(${at()})`;
  if (value === null) return sql`not (${within}coalesce(${type} <> 'NULL', false))`;
  const text = sql`json_unquote(${at()})`;
  const sign = sql.raw(SIGNS[test] ?? "like");
  const slot = slots.next(typeof value === "number" ? NUMBER : TEXT);
  if (typeof value === "number")
    return sql`(${within}case when ${type} in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') then cast(${text} as double) ${sign} ${slot} else false end)`;
  const exact = sql.raw(`collate ${collation ?? "utf8mb4_bin"}`);
  const own = sql`convert(${text} using utf8mb4) ${exact}`;
  const compared =
    SIGNS[test] === undefined ? sql`lower(${own}) like lower(${slot}) escape '!'` : sql`${own} ${sign} ${slot}`;
  return sql`(${within}case ${type} when ${sql.lit(typeof value === "boolean" ? "BOOLEAN" : "STRING")} then ${compared} else false end)`;
};

const WRITERS: Readonly<Record<Provider, Writer>> = { postgresql, sqlite, mysql };
