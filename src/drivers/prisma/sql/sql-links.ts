import type { ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import { type Condition, type Link, ValidationFailedError } from "../../../kernel/index.ts";
import { danglingReference } from "../to-keelson-error.ts";
import { linkQuery, linksQuery, unlinkQuery } from "./link-queries.ts";
import type { SqlSession } from "./sql-connection.ts";

/** Pairs of one INSERT. */
const PAIRS = 1_000;

/** Whether pairs need more than one statement. */
export function needsSeveralPortions(targets: readonly string[]): boolean {
  return targets.length > PAIRS;
}

/** Pairs of a relation, ordered by source, then target. */
export async function selectLinks(
  session: SqlSession,
  relation: ResolvedRelation,
  ids: readonly string[],
  condition: Condition,
  limit: number,
): Promise<Link[]> {
  const sources = [...new Set(ids)];
  if (sources.length === 0 || limit === 0) return [];
  const query = linksQuery(session.connection(), relation, sources, condition, limit);
  const { rows } = await session.read({ model: relation.source.name, operation: "links" }, (client) =>
    client.queryRaw(query),
  );
  const links = rows.map(([source, target]): Link => ({ source: source as string, target: target as string }));
  const { compare } = (relation.source.columns.id as ColumnDefinition).kind;
  return links.sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target));
}

/** Adds pairs. @throws ValidationFailedError when one end does not exist */
export async function addLinks(
  session: SqlSession,
  relation: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  const open = session.connection();
  for (let start = 0; start < targets.length; start += PAIRS) {
    const query = linkQuery(open, relation, id, targets.slice(start, start + PAIRS));
    try {
      await session.write({ model: relation.source.name, operation: "link" }, (client) => client.executeRaw(query));
    } catch (error) {
      if (!(error instanceof ValidationFailedError)) throw error;
      throw danglingReference([`${relation.name}Ids`], error.cause);
    }
  }
}

/** Removes pairs; a record that does not exist has none. */
export async function removeLinks(
  session: SqlSession,
  relation: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  if (targets.length === 0) return;
  const query = unlinkQuery(session.connection(), relation, id, targets);
  await session.write({ model: relation.source.name, operation: "unlink" }, (client) => client.executeRaw(query));
}
