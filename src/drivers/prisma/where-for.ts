import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { ALWAYS, type Condition, NEVER } from "../../kernel/index.ts";
import type { Args, StatementClient } from "./client-shape.ts";
import type { ClientConnection } from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import { toPrismaWhere } from "./to-prisma-where.ts";

// SQLite's LIKE has no escape character unless the statement names one, and Prisma's statements do not; and Prisma cannot
// ask MySQL to ignore case. Such a search asks for the ids first, in a statement that says it.

type Compare = Condition & { readonly kind: "compare" };

const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  like: (text) => `%${text}%`,
  starts: (text) => `${text}%`,
  ends: (text) => `%${text}`,
};

function isLookedUp(condition: Condition, { looksUp }: Dialect): condition is Compare {
  return condition.kind === "compare" && condition.operator in PATTERNS && looksUp(condition.value as string);
}

/** Whether a condition has a search that Prisma has no words for. */
function needsLookUp(condition: Condition, dialect: Dialect): boolean {
  if (condition.kind === "and" || condition.kind === "or")
    return condition.parts.some((part) => needsLookUp(part, dialect));
  if (condition.kind === "related") return needsLookUp(condition.where, dialect);
  return isLookedUp(condition, dialect);
}

async function matchingIds(
  client: StatementClient,
  { searchStatement }: Dialect,
  entity: AnyEntity,
  search: Compare,
): Promise<string[]> {
  const text = (search.value as string).replace(/[!%_]/g, "!$&");
  const pattern = (PATTERNS[search.operator] as (text: string) => string)(text);
  // Both names come from the definition and are identifiers; the text is a parameter.
  const sql = searchStatement(entity.name, search.column.name);
  return (await client.$queryRawUnsafe(sql, pattern)).map((row) => row.id as string);
}

/** The same condition with such searches replaced by the ids that they find. */
async function lookUpSearches(
  client: StatementClient,
  dialect: Dialect,
  entity: AnyEntity,
  condition: Condition,
): Promise<Condition> {
  if (condition.kind === "and" || condition.kind === "or") {
    const parts: Condition[] = [];
    for (const part of condition.parts) parts.push(await lookUpSearches(client, dialect, entity, part));
    return { kind: condition.kind, parts };
  }
  if (condition.kind === "related")
    return { ...condition, where: await lookUpSearches(client, dialect, condition.relation.target, condition.where) };
  if (!isLookedUp(condition, dialect)) return condition;
  const ids = await matchingIds(client, dialect, entity, condition);
  if (ids.length === 0) return condition.negated ? ALWAYS : NEVER;
  const { negated } = condition;
  return { kind: "compare", column: entity.columns.id as ColumnDefinition, operator: "in", value: ids, negated };
}

/** Whether Prisma has words for all of a condition. */
export function saysAll(dialect: Dialect, condition: Condition): boolean {
  return !needsLookUp(condition, dialect);
}

/** A condition in Prisma's words, after asking the database for what it cannot say in them. */
export function prismaWhere(
  open: ClientConnection,
  client: StatementClient,
  entity: AnyEntity,
  condition: Condition,
): Args | Promise<Args> {
  if (saysAll(open.dialect, condition)) return toPrismaWhere(condition, open);
  return lookUpSearches(client, open.dialect, entity, condition).then((found) => toPrismaWhere(found, open));
}
