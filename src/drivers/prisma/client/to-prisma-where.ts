import type { AnyEntity, ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import {
  type Compare,
  type Condition,
  compare,
  type Leaf,
  mapCondition,
  NEVER,
  not,
  or,
  type Related,
  type Test,
  visitCondition,
} from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { idsQuery } from "../../sql/index.ts";
import { isPrintedAsList, printedRelation } from "../schema/relation-sides.ts";
import type { Args, ClientConnection, StatementClient } from "./client-connection.ts";
import { clientForm } from "./client-values.ts";

/** Converts a condition for Prisma. Parts that Prisma cannot express are queried first. */
export function prismaWhere(
  open: ClientConnection,
  client: StatementClient,
  entity: AnyEntity,
  condition: Condition,
): Args | Promise<Args> {
  const searches = new Map<Compare, AnyEntity>();
  visitCondition(condition, (leaf, inside) => {
    if (isLookedUp(leaf, open)) searches.set(leaf as Compare, inside?.target ?? entity);
  });
  if (searches.size === 0) return toPrismaWhere(condition, open);
  return lookUpSearches(open, client, searches, condition).then((found) => toPrismaWhere(found, open));
}

/** Whether Prisma can express all of a condition. */
export function saysAll(open: ClientConnection, condition: Condition): boolean {
  let isSaid = true;
  visitCondition(condition, (leaf) => {
    isSaid &&= !isLookedUp(leaf, open);
  });
  return isSaid;
}

const LISTS: ReadonlySet<Test> = new Set<Test>(["hasAny", "hasAll", "isEmpty"]);

/**
 * Whether a condition must be resolved to ids first, by its own statement, because Prisma cannot express it: SQLite's
 * LIKE has no escape character unless the statement names one, which Prisma's do not; Prisma cannot make MySQL ignore
 * case; its JSON filters differ between databases, and it has none for lists stored as JSON.
 */
function isLookedUp(leaf: Leaf, { dialect: { provider } }: ClientConnection): boolean {
  if (leaf.op !== "compare") return false;
  if (leaf.column.path !== undefined) return true;
  if (provider === "postgresql") return false;
  if (LISTS.has(leaf.test)) return true;
  if (!(leaf.test in TEXT_FILTERS)) return false;
  const text = leaf.value as string;
  return provider === "sqlite" ? /[%_]/.test(text) : text.toLowerCase() !== text.toUpperCase();
}

/** Replaces searches in a condition with the ids that they find. */
async function lookUpSearches(
  { builder }: ClientConnection,
  client: StatementClient,
  searches: ReadonlyMap<Compare, AnyEntity>,
  condition: Condition,
): Promise<Condition> {
  const found = new Map<Condition, Condition>();
  for (const [search, entity] of searches) {
    const { sql, values } = idsQuery(builder, entity, search);
    const ids = (await client.$queryRawUnsafe(sql, ...values)).map((row) => String(row.id));
    found.set(search, ids.length === 0 ? NEVER : compare(entity.columns.id as ColumnDefinition, "in", ids));
  }
  return mapCondition(condition, (leaf) => found.get(leaf) ?? leaf);
}

// Conditions that always or never hold are removed: inside an OR, Prisma ignores an empty condition instead of treating
// it as true.
const EVERYTHING: Args = Object.freeze({});
/** Not an empty OR, which Prisma ignores inside an AND. */
export const NOTHING: Args = Object.freeze({ id: Object.freeze({ in: Object.freeze([]) }) });

/** Converts a condition for Prisma. */
export function toPrismaWhere(condition: Condition, open: ClientConnection): Args {
  switch (condition.op) {
    case "and":
      return conjunction(condition.of, open);
    case "or":
      return disjunction(condition.of.map((part) => toPrismaWhere(part, open)));
    case "not":
      return condition.of.op === "related"
        ? relatedWhere(condition.of, false, open)
        : complementWhere(condition.of, open);
    case "compare":
      return compareWhere(condition, open);
    case "related":
      return relatedWhere(condition, true, open);
    default:
      return condition.op === "always" ? EVERYTHING : NOTHING;
  }
}

/** Puts conditions on different columns into one object, which gives Prisma less to traverse and smaller plan keys. */
function conjunction(parts: readonly Condition[], open: ClientConnection): Args {
  const where: Record<string, unknown> = {};
  const rest: Args[] = [];
  for (const part of parts) {
    const own = toPrismaWhere(part, open);
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

function compareWhere({ column, test, value, record }: Compare, open: ClientConnection): Args {
  if (record !== undefined && value === undefined)
    throw new BadRequestError(
      `A PrismaClient without its adapter finds no page after such a value of "${column.name}"`,
    );
  if (record !== undefined) return toPrismaWhere(compare(column, test, value), open);
  if (value === null) return column.optional ? isNull(column, open) : NOTHING;
  if (isBooleanList(column, test)) return toPrismaWhere(eachValue(column, value), open);
  return { [column.name]: filter(column, test, value, open) };
}

/** Uses `NOT: {…}`, because `{ not: … }` keeps Prisma from splitting a list that is too long for a statement. */
function complementWhere({ column, test, value }: Compare, open: ClientConnection): Args {
  const { name, optional } = column;
  if (value === null) return optional ? { NOT: isNull(column, open) } : EVERYTHING;
  if (isBooleanList(column, test)) return toPrismaWhere(not(eachValue(column, value)), open);
  const complement =
    test === "in"
      ? { [name]: { notIn: listOf(column, value, open) } }
      : { NOT: { [name]: filter(column, test, value, open) } };
  // In SQL, a comparison with null is unknown; here it is false.
  return optional ? { OR: [complement, { [name]: null }] } : complement;
}

/** A comparison with null. Must not be used for required columns, which Prisma refuses to compare with null. */
function isNull({ name, kind }: ColumnDefinition, { dbNull, dialect: { provider } }: ClientConnection): Args {
  const { scalar } = kind.column;
  const isJson = scalar === "Json" || (scalar === "List" && provider !== "postgresql");
  return { [name]: isJson ? { equals: dbNull } : null };
}

/** Whether a test is `in` on a boolean column, which Prisma does not support. */
function isBooleanList({ kind }: ColumnDefinition, test: Test): boolean {
  return test === "in" && kind.column.scalar === "Boolean";
}

function eachValue(column: ColumnDefinition, values: unknown): Condition {
  return or((values as readonly unknown[]).map((one) => compare(column, "eq", one)));
}

function listOf(column: ColumnDefinition, values: unknown, { dialect: { provider } }: ClientConnection): unknown {
  return (values as readonly unknown[]).map(clientForm(provider, column).to);
}

const TEXT_FILTERS = { like: "contains", starts: "startsWith", ends: "endsWith" } as const;

function filter(column: ColumnDefinition, operator: Test, value: unknown, open: ClientConnection): unknown {
  const { provider } = open.dialect;
  if (operator === "isEmpty") return { isEmpty: true };
  if (operator === "hasAny" || operator === "hasAll")
    return { [operator === "hasAny" ? "hasSome" : "hasEvery"]: clientForm(provider, column).to(value) };
  if (operator === "in") return { in: listOf(column, value, open) };
  if (operator !== "like" && operator !== "starts" && operator !== "ends") {
    const given = clientForm(provider, column).to(value);
    return operator === "eq" ? given : { [operator]: given };
  }
  const name = TEXT_FILTERS[operator];
  // SQLite has no escape character unless the statement names one, so these texts contain no wildcards.
  if (provider === "sqlite") return { [name]: value };
  const text = (value as string).replace(/[\\%_]/g, "\\$&");
  return provider === "postgresql" ? { [name]: text, mode: "insensitive" } : { [name]: text };
}

function relatedWhere({ relation, matches }: Related, isSome: boolean, open: ClientConnection): Args {
  const printed = printedRelation(open.model, relation);
  const inner = toPrismaWhere(matches, open);
  if (inner === NOTHING) return isSome ? NOTHING : EVERYTHING;
  if (isPrintedAsList(printed)) return { [printed.name]: { [isSome ? "some" : "none"]: inner } };
  if (inner === EVERYTHING) return existence(printed, isSome);
  if (isSome) return { [printed.name]: { is: inner } };
  // Not `isNot`, which is unknown for a related record with a null in a compared column.
  const other = toPrismaWhere(not(matches), open);
  return disjunction([existence(printed, false), { [printed.name]: { is: other } }]);
}

/** The condition that a to-one relation has, or does not have, a record. */
function existence(relation: ResolvedRelation, exists: boolean): Args {
  if (relation.type === "belongsTo" && !relation.optional) return exists ? EVERYTHING : NOTHING;
  const missing = { [relation.type === "hasOne" ? relation.name : (relation.foreignKey as string)]: null };
  return exists ? { NOT: missing } : missing;
}
