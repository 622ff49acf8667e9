import type { ColumnDefinition, ResolvedRelation } from "../../../../entity/index.ts";
import type { FindPairs, Pair, Row } from "../../../../gate/index.ts";
import { otherSideName } from "../../../sql/index.ts";
import type { ClientSession } from "../words/client-connection.ts";
import { type Args, modelApi } from "../words/client-shape.ts";
import { isTooLong } from "../words/find-long-list.ts";
import { prismaWhere } from "../words/where-for.ts";
import { linksByPair } from "./links-by-pair.ts";
import type { WantedLinks } from "./wanted-links.ts";

/** Records at the other end that one statement gives. */
const TARGETS = 1_000;
/** Pairs that one statement gives, if every record at one end is paired with every other. */
const PAIRS = 100_000;

/**
 * Pairs by pages of records at the other end. They are read from there because Prisma bounds the records it is asked for,
 * but not those that come along with them.
 */
async function* linksByTarget(
  session: ClientSession,
  relation: ResolvedRelation,
  { ids, condition, limit }: WantedLinks,
): AsyncGenerator<Pair[]> {
  const open = session.connection();
  const { source, target } = relation;
  const back = otherSideName(relation);
  const sources = { id: { in: ids } };
  const select = { id: true, [back]: { select: { id: true }, where: sources } };
  const take = Math.min(TARGETS, Math.ceil(PAIRS / ids.length), limit);
  let after: Args = {};
  let isLast = false;
  while (!isLast) {
    const rows = await session.read({ model: source.name, operation: "links" }, async (client) => {
      const api = modelApi(client, open.planOf(target).delegate);
      const where = { AND: [await prismaWhere(open, client, target, condition), { [back]: { some: sources } }, after] };
      try {
        return await api.findMany({ where, select, orderBy: { id: "asc" }, take });
      } catch (error) {
        if (!isTooLong(error)) throw error;
        isLast = true; // Prisma takes several statements for a long list, and then no pages
        return api.findMany({ where, select });
      }
    });
    yield rows.flatMap((row) =>
      (row[back] as readonly Row[]).map(({ id }) => ({ source: id as string, target: row.id as string })),
    );
    isLast ||= rows.length !== take;
    after = { id: { gt: rows.at(-1)?.id } };
  }
}

/** Ids of one statement: with those of the other end and a condition, still few enough for any database. */
const SOURCES = 400;

/** Pairs of a relation, ordered by source, then target. No statement loads many more than are wanted. */
export async function selectLinks(
  session: ClientSession,
  { relation, ids, where: condition, limit = Number.POSITIVE_INFINITY }: FindPairs,
): Promise<Pair[]> {
  const pagesOf = session.connection().dialect.startsFromRelated ? linksByTarget : linksByPair;
  const links: Pair[] = [];
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
