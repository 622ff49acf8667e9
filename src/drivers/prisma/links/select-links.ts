import type { ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import type { Link } from "../../../kernel/index.ts";
import type { Session } from "../session.ts";
import { linksByPair } from "./links-by-pair.ts";
import { linksByTarget } from "./links-by-target.ts";
import type { WantedLinks } from "./wanted-links.ts";

/** Ids of one statement: with those of the other end and a condition, still few enough for any database. */
const SOURCES = 400;

/** Pairs of a relation, ordered by source, then target. No statement loads many more than are wanted. */
export async function selectLinks(
  session: Session,
  relation: ResolvedRelation,
  { ids, condition, limit }: WantedLinks,
): Promise<Link[]> {
  const pagesOf = session.connection().dialect.startsFromRelated ? linksByTarget : linksByPair;
  const links: Link[] = [];
  const sources = [...new Set(ids)];
  for (let start = 0; start < sources.length && links.length < limit; start += SOURCES) {
    const some = sources.slice(start, start + SOURCES);
    for await (const page of pagesOf(session, relation, { ids: some, condition, limit: limit - links.length })) {
      for (const link of page) links.push(link);
      if (links.length >= limit) break;
    }
  }
  const { compare } = (relation.source.columns.id as ColumnDefinition).kind;
  links.sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target));
  return links.slice(0, limit);
}
