import type { AnyEntity, ColumnDefinition } from "../../../../entity/index.ts";
import { type Compare, type Condition, compare, mapCondition, NEVER, visitCondition } from "../../../../gate/index.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { ClientDialect } from "./client-dialect.ts";
import type { Args, StatementClient } from "./client-shape.ts";
import { toPrismaWhere } from "./to-prisma-where.ts";

// SQLite's LIKE has no escape character unless the statement names one, and Prisma's statements do not; and Prisma cannot
// ask MySQL to ignore case. Such a search asks for the ids first, in a statement that says it.

const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  like: (text) => `%${text}%`,
  starts: (text) => `${text}%`,
  ends: (text) => `%${text}`,
};

function isLookedUp({ test, value }: Compare, { looksUp }: ClientDialect): boolean {
  return test in PATTERNS && looksUp(value as string);
}

async function matchingIds(
  client: StatementClient,
  { searchStatement }: ClientDialect,
  entity: AnyEntity,
  search: Compare,
): Promise<string[]> {
  const text = (search.value as string).replace(/[!%_]/g, "!$&");
  const pattern = (PATTERNS[search.test] as (text: string) => string)(text);
  // Both names come from the definition and are identifiers; the text is a parameter.
  const sql = searchStatement(entity.name, search.column.name);
  return (await client.$queryRawUnsafe(sql, pattern)).map((row) => row.id as string);
}

/** Searches of a condition that Prisma has no words for, and the entities that they are about. */
function searchesOf(dialect: ClientDialect, entity: AnyEntity, condition: Condition): Map<Compare, AnyEntity> {
  const searches = new Map<Compare, AnyEntity>();
  visitCondition(condition, (leaf, inside) => {
    if (leaf.op === "compare" && isLookedUp(leaf, dialect)) searches.set(leaf, inside?.target ?? entity);
  });
  return searches;
}

/** The same condition with such searches replaced by the ids that they find. */
async function lookUpSearches(
  client: StatementClient,
  dialect: ClientDialect,
  searches: ReadonlyMap<Compare, AnyEntity>,
  condition: Condition,
): Promise<Condition> {
  const found = new Map<Condition, Condition>();
  for (const [search, entity] of searches) {
    const ids = await matchingIds(client, dialect, entity, search);
    found.set(search, ids.length === 0 ? NEVER : compare(entity.columns.id as ColumnDefinition, "in", ids));
  }
  return mapCondition(condition, (leaf) => found.get(leaf) ?? leaf);
}

/** Whether Prisma has words for all of a condition. */
export function saysAll(dialect: ClientDialect, condition: Condition): boolean {
  let isSaid = true;
  visitCondition(condition, (leaf) => {
    isSaid &&= leaf.op !== "compare" || !isLookedUp(leaf, dialect);
  });
  return isSaid;
}

/** A condition in Prisma's words, after asking the database for what it cannot say in them. */
export function prismaWhere(
  open: ClientConnection,
  client: StatementClient,
  entity: AnyEntity,
  condition: Condition,
): Args | Promise<Args> {
  const searches = searchesOf(open.dialect, entity, condition);
  if (searches.size === 0) return toPrismaWhere(condition, open);
  return lookUpSearches(client, open.dialect, searches, condition).then((found) => toPrismaWhere(found, open));
}
