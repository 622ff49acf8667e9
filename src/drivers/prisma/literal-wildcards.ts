import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { ALWAYS, type Condition, NEVER } from "../../kernel/index.ts";
import type { StatementClient } from "./client-shape.ts";

// SQLite's LIKE has no escape character unless the statement names one, and Prisma's statements do not. Where the
// adapter is not ours, a search for a literal `%` or `_` asks for the ids first, in a statement that does.

type Compare = Condition & { readonly kind: "compare" };

const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  like: (text) => `%${text}%`,
  starts: (text) => `${text}%`,
  ends: (text) => `%${text}`,
};

function isWildcardSearch(condition: Condition): condition is Compare {
  return condition.kind === "compare" && condition.operator in PATTERNS && /[%_]/.test(condition.value as string);
}

/** Whether a condition searches for text with a `%` or `_` in it. */
export function searchesWildcards(condition: Condition): boolean {
  if (condition.kind === "and" || condition.kind === "or") return condition.parts.some(searchesWildcards);
  if (condition.kind === "related") return searchesWildcards(condition.where);
  return isWildcardSearch(condition);
}

async function matchingIds(client: StatementClient, entity: AnyEntity, search: Compare): Promise<string[]> {
  const text = (search.value as string).replace(/[\\%_]/g, "\\$&");
  const pattern = (PATTERNS[search.operator] as (text: string) => string)(text);
  // Both names come from the definition and are identifiers; the text is a parameter.
  const sql = `SELECT "id" FROM "${entity.name}" WHERE "${search.column.name}" LIKE ? ESCAPE '\\'`;
  return (await client.$queryRawUnsafe(sql, pattern)).map((row) => row.id as string);
}

/** The same condition with such searches replaced by the ids that they find. */
export async function lookUpWildcards(
  client: StatementClient,
  entity: AnyEntity,
  condition: Condition,
): Promise<Condition> {
  if (condition.kind === "and" || condition.kind === "or") {
    const parts: Condition[] = [];
    for (const part of condition.parts) parts.push(await lookUpWildcards(client, entity, part));
    return { kind: condition.kind, parts };
  }
  if (condition.kind === "related")
    return { ...condition, where: await lookUpWildcards(client, condition.relation.target, condition.where) };
  if (!isWildcardSearch(condition)) return condition;
  const ids = await matchingIds(client, entity, condition);
  if (ids.length === 0) return condition.negated ? ALWAYS : NEVER;
  const { negated } = condition;
  return { kind: "compare", column: entity.columns.id as ColumnDefinition, operator: "in", value: ids, negated };
}
