import type { ResolvedRelation } from "../../../../entity/index.ts";
import { isAlways, type Pair } from "../../../../gate/index.ts";
import { linkTable } from "../../../sql/index.ts";
import type { ClientSession } from "../words/client-connection.ts";
import { modelApi } from "../words/client-shape.ts";
import { prismaWhere } from "../words/where-for.ts";
import type { WantedLinks } from "./wanted-links.ts";

/** Pairs of one statement. */
const PAIRS = 1_000;

/**
 * Pairs by pages of the table that holds them. SQLite answers a condition on related records by looking at every record,
 * so there the other end is no place to begin.
 */
export async function* linksByPair(
  session: ClientSession,
  relation: ResolvedRelation,
  wanted: WantedLinks,
): AsyncGenerator<Pair[]> {
  const { table, own, other } = linkTable(relation);
  const { ids, limit } = wanted;
  const take = isAlways(wanted.condition) ? Math.min(PAIRS, limit) : PAIRS;
  let last: Pair | undefined;
  let page: readonly Pair[];
  do {
    // The names come from the definitions and are identifiers; the ids are parameters.
    const among = `"${own}" IN (${ids.map(() => "?").join()})`;
    const after = last === undefined ? "" : ` AND ("${own}", "${other}") > (?, ?)`;
    const sql = `SELECT "${own}" AS "source", "${other}" AS "target" FROM "${table}" WHERE ${among}${after} ORDER BY 1, 2 LIMIT ${take}`;
    const values = last === undefined ? ids : [...ids, last.source, last.target];
    const rows = await session.read({ model: relation.source.name, operation: "links" }, (client) =>
      client.$queryRawUnsafe(sql, ...values),
    );
    page = rows.map(({ source, target }) => ({ source: source as string, target: target as string }));
    yield await satisfying(session, relation, wanted, page);
    last = page.at(-1);
  } while (page.length === take);
}

/** The pairs of a page whose other end satisfies the condition. */
async function satisfying(
  session: ClientSession,
  { source, target }: ResolvedRelation,
  { condition }: WantedLinks,
  page: readonly Pair[],
): Promise<Pair[]> {
  if (isAlways(condition) || page.length === 0) return [...page];
  const open = session.connection();
  const targets = { id: { in: [...new Set(page.map((link) => link.target))] } };
  const rows = await session.read({ model: source.name, operation: "links" }, async (client) => {
    const where = { AND: [await prismaWhere(open, client, target, condition), targets] };
    return modelApi(client, open.planOf(target).delegate).findMany({ where, select: { id: true } });
  });
  const found = new Set(rows.map(({ id }) => id));
  return page.filter((link) => found.has(link.target));
}
