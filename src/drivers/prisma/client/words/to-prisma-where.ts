import type { ColumnDefinition, EntityModel, ResolvedRelation } from "../../../../entity/index.ts";
import { type Compare, type Condition, compare, not, or, type Related, type Test } from "../../../../gate/index.ts";
import { isPrintedAsList, printedRelation } from "../../schema/relation-sides.ts";
import type { ClientDialect } from "./client-dialect.ts";
import type { Args } from "./client-shape.ts";
import { exactNumber } from "./exact-number.ts";

/** What a translation needs to know besides the condition. */
export interface WhereContext {
  readonly model: EntityModel;
  readonly dialect: ClientDialect;
  /** Prisma's value for a JSON column that is null. */
  readonly dbNull: unknown;
}

// What holds always or never is folded away: inside an OR, Prisma ignores an empty condition instead of taking it for true.
const EVERYTHING: Args = Object.freeze({});
const NOTHING: Args = Object.freeze({ OR: Object.freeze([]) });

/** A condition in Prisma's words. */
export function toPrismaWhere(condition: Condition, context: WhereContext): Args {
  switch (condition.op) {
    case "and":
      return conjunction(condition.of, context);
    case "or":
      return disjunction(condition.of.map((part) => toPrismaWhere(part, context)));
    case "not":
      return condition.of.op === "related"
        ? relatedWhere(condition.of, false, context)
        : complementWhere(condition.of, context);
    case "compare":
      return compareWhere(condition, context);
    case "related":
      return relatedWhere(condition, true, context);
    default:
      return condition.op === "always" ? EVERYTHING : NOTHING;
  }
}

/** Conditions on different columns share one object: less for Prisma to walk through and to key its plans by. */
function conjunction(parts: readonly Condition[], context: WhereContext): Args {
  const where: Record<string, unknown> = {};
  const rest: Args[] = [];
  for (const part of parts) {
    const own = toPrismaWhere(part, context);
    if (own === NOTHING) return NOTHING;
    const keys = Object.keys(own);
    if (keys.some((key) => key in where)) rest.push(own);
    else for (const key of keys) where[key] = own[key];
  }
  if (rest.length > 0) return { AND: [where, ...rest] };
  return Object.keys(where).length === 0 ? EVERYTHING : where;
}

function disjunction(parts: readonly Args[]): Args {
  if (parts.includes(EVERYTHING)) return EVERYTHING;
  const possible = parts.filter((part) => part !== NOTHING);
  if (possible.length === 0) return NOTHING;
  return possible.length === 1 ? (possible[0] as Args) : { OR: possible };
}

function compareWhere({ column, test, value }: Compare, context: WhereContext): Args {
  if (value === null) return column.optional ? isNull(column, context) : NOTHING;
  if (isBooleanList(column, test)) return toPrismaWhere(eachValue(column, value), context);
  return { [column.name]: filter(test, value, context) };
}

/** `NOT: {…}` rather than `{ not: … }`: the latter keeps Prisma from splitting a list that is too long for a statement. */
function complementWhere({ column, test, value }: Compare, context: WhereContext): Args {
  const { name, optional } = column;
  if (value === null) return optional ? { NOT: isNull(column, context) } : EVERYTHING;
  if (isBooleanList(column, test)) return toPrismaWhere(not(eachValue(column, value)), context);
  const complement =
    test === "in" ? { [name]: { notIn: exactNumbers(value) } } : { NOT: { [name]: filter(test, value, context) } };
  // SQL knows neither yes nor no about null; we do.
  return optional ? { OR: [complement, { [name]: null }] } : complement;
}

/** Prisma refuses to compare a required column with null. */
function isNull({ name, kind }: ColumnDefinition, { dbNull }: WhereContext): Args {
  return { [name]: kind.column.scalar === "Json" ? { equals: dbNull } : null };
}

/** Prisma has no `in` for Booleans. */
function isBooleanList({ kind }: ColumnDefinition, test: Test): boolean {
  return test === "in" && kind.column.scalar === "Boolean";
}

function eachValue(column: ColumnDefinition, values: unknown): Condition {
  return or((values as readonly unknown[]).map((one) => compare(column, "eq", one)));
}

function exactNumbers(values: unknown): unknown {
  const list = values as readonly unknown[];
  return typeof list[0] === "number" ? list.map(exactNumber) : list;
}

const TEXT_FILTERS = { like: "contains", starts: "startsWith", ends: "endsWith" } as const;

function filter(operator: Test, value: unknown, { dialect }: WhereContext): unknown {
  if (operator === "eq") return exactNumber(value);
  if (operator === "in") return { in: exactNumbers(value) };
  if (operator !== "like" && operator !== "starts" && operator !== "ends") return { [operator]: exactNumber(value) };
  const text = dialect.escapes ? escapeWildcards(value as string) : value;
  const name = TEXT_FILTERS[operator];
  return dialect.insensitiveMode ? { [name]: text, mode: "insensitive" } : { [name]: text };
}

function escapeWildcards(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

function relatedWhere({ relation, matches }: Related, isSome: boolean, context: WhereContext): Args {
  const printed = printedRelation(context.model, relation);
  const inner = toPrismaWhere(matches, context);
  if (inner === NOTHING) return isSome ? NOTHING : EVERYTHING;
  if (isPrintedAsList(printed)) return { [printed.name]: { [isSome ? "some" : "none"]: inner } };
  if (inner === EVERYTHING) return existence(printed, isSome);
  if (isSome) return { [printed.name]: { is: inner } };
  // Not `isNot`: of a related record with a null in a compared column it says neither yes nor no.
  const other = toPrismaWhere(not(matches), context);
  return disjunction([existence(printed, false), { [printed.name]: { is: other } }]);
}

/** Whether a to-one relation leads to a record at all. */
function existence(relation: ResolvedRelation, exists: boolean): Args {
  if (relation.type === "belongsTo" && !relation.optional) return exists ? EVERYTHING : NOTHING;
  const missing = { [relation.type === "hasOne" ? relation.name : (relation.foreignKey as string)]: null };
  return exists ? { NOT: missing } : missing;
}
