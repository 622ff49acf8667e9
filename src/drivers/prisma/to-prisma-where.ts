import type { EntityModel, ResolvedRelation } from "../../entity/index.ts";
import type { CompareOperator, Condition } from "../../kernel/index.ts";
import type { Args } from "./client-shape.ts";
import type { Dialect } from "./dialect.ts";
import { exactNumber } from "./exact-number.ts";
import { isPrintedAsList, printedRelation } from "./schema/relation-sides.ts";

/** What a translation needs to know besides the condition. */
export interface WhereContext {
  readonly model: EntityModel;
  readonly dialect: Dialect;
  /** Prisma's value for a JSON column that is null. */
  readonly dbNull: unknown;
}

type Compare = Condition & { readonly kind: "compare" };
type Related = Condition & { readonly kind: "related" };

// What holds always or never is folded away: inside an OR, Prisma ignores an empty condition instead of taking it for true.
const EVERYTHING: Args = Object.freeze({});
const NOTHING: Args = Object.freeze({ OR: Object.freeze([]) });

/** A condition in Prisma's words. */
export function toPrismaWhere(condition: Condition, context: WhereContext): Args {
  switch (condition.kind) {
    case "and":
      return conjunction(condition.parts, context);
    case "or":
      return disjunction(condition.parts.map((part) => toPrismaWhere(part, context)));
    case "null":
      return nullWhere(condition, context);
    case "related":
      return relatedWhere(condition, context);
    case "compare":
      return compareWhere(condition, context);
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

function nullWhere({ column, negated }: Condition & { readonly kind: "null" }, { dbNull }: WhereContext): Args {
  // Prisma refuses to compare a required column with null.
  if (!column.optional) return negated ? EVERYTHING : NOTHING;
  const isNull = { [column.name]: column.kind.column.scalar === "Json" ? { equals: dbNull } : null };
  return negated ? { NOT: isNull } : isNull;
}

function compareWhere(condition: Compare, context: WhereContext): Args {
  const { column, operator, value, negated } = condition;
  // Prisma has no `in` for Booleans.
  if (operator === "in" && column.kind.column.scalar === "Boolean") {
    const parts = (value as readonly unknown[]).map((one): Condition => ({ ...condition, operator: "eq", value: one }));
    return toPrismaWhere({ kind: negated ? "and" : "or", parts }, context);
  }
  if (!negated) return { [column.name]: filter(operator, value, context) };
  const complementary = negatedWhere(condition, context);
  // SQL knows neither yes nor no about null; we do.
  return column.optional ? { OR: [complementary, { [column.name]: null }] } : complementary;
}

/** `NOT: {…}` rather than `{ not: … }`: the latter keeps Prisma from splitting a list that is too long for a statement. */
function negatedWhere({ column, operator, value }: Compare, context: WhereContext): Args {
  if (operator === "in") return { [column.name]: { notIn: exactNumbers(value) } };
  return { NOT: { [column.name]: filter(operator, value, context) } };
}

function exactNumbers(values: unknown): unknown {
  const list = values as readonly unknown[];
  return typeof list[0] === "number" ? list.map(exactNumber) : list;
}

const TEXT_FILTERS = { like: "contains", starts: "startsWith", ends: "endsWith" } as const;

function filter(operator: CompareOperator, value: unknown, { dialect }: WhereContext): unknown {
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

function relatedWhere({ relation, quantifier, where }: Related, context: WhereContext): Args {
  const printed = printedRelation(context.model, relation);
  const isSome = quantifier === "some";
  const inner = toPrismaWhere(where, context);
  if (inner === NOTHING) return isSome ? NOTHING : EVERYTHING;
  if (isPrintedAsList(printed)) return { [printed.name]: { [quantifier]: inner } };
  if (inner === EVERYTHING) return existence(printed, isSome);
  if (isSome) return { [printed.name]: { is: inner } };
  // Not `isNot`: of a related record with a null in a compared column it says neither yes nor no.
  const other = toPrismaWhere(complement(where), context);
  return disjunction([existence(printed, false), { [printed.name]: { is: other } }]);
}

/** Whether a to-one relation leads to a record at all. */
function existence(relation: ResolvedRelation, exists: boolean): Args {
  if (relation.type === "belongsTo" && !relation.optional) return exists ? EVERYTHING : NOTHING;
  const missing = { [relation.type === "hasOne" ? relation.name : (relation.foreignKey as string)]: null };
  return exists ? { NOT: missing } : missing;
}

/** The condition that holds exactly where another does not; two-valued, so null counts as “does not”. */
function complement(condition: Condition): Condition {
  switch (condition.kind) {
    case "and":
      return { kind: "or", parts: condition.parts.map(complement) };
    case "or":
      return { kind: "and", parts: condition.parts.map(complement) };
    case "related":
      return { ...condition, quantifier: condition.quantifier === "some" ? "none" : "some" };
    default:
      return { ...condition, negated: !condition.negated };
  }
}
