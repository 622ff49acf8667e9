import type { ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import {
  type ChangePairs,
  type Condition,
  type FindPairs,
  isAlways,
  type Pair,
  type Row,
} from "../../../gate/index.ts";
import { danglingReference, linkTable, otherSideName } from "../../sql/index.ts";
import { type Args, type ClientSession, isTooLong, modelApi } from "./client-connection.ts";
import { MOST_AT_ONCE } from "./client-writes.ts";
import { prismaWhere } from "./to-prisma-where.ts";

/**
 * Number of ids in one statement. With those of the other end and a condition, they fit into the limits of any
 * database.
 */
const SOURCES = 400;

/** Reads pairs of a relation, ordered by source, then target. No statement loads many more pairs than needed. */
export async function selectLinks(
  session: ClientSession,
  { relation, ids, where: condition, limit = Number.POSITIVE_INFINITY }: FindPairs,
): Promise<Pair[]> {
  const pagesOf = session.connection().dialect.provider === "sqlite" ? linksByPair : linksByTarget;
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

/** The requested pairs: their source ids, a condition on the other ends, and a limit. */
interface WantedLinks {
  readonly ids: readonly string[];
  readonly condition: Condition;
  readonly limit: number;
}

/** Maximum number of records at the other end that one statement returns. */
const TARGETS = 1_000;
/** Maximum number of pairs that one statement returns if all records are paired with each other. */
const PAIRS = 100_000;

/**
 * Reads pairs by pages of records at the other end. It starts there because Prisma can limit the records of a query,
 * but not their related records.
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
      const api = modelApi(client, open.planOf(target));
      const where = { AND: [await prismaWhere(open, client, target, condition), { [back]: { some: sources } }, after] };
      try {
        return await api.findMany({ where, select, orderBy: { id: "asc" }, take });
      } catch (error) {
        if (!isTooLong(error)) throw error;
        isLast = true; // Prisma uses several statements for a long list, and then does not support pages
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

/** Maximum number of pairs in one statement. */
const PAGE = 1_000;

/**
 * Reads pairs by pages of their table. SQLite evaluates a condition on related records by reading every record, so the
 * query must not start at the other end.
 */
async function* linksByPair(
  session: ClientSession,
  relation: ResolvedRelation,
  wanted: WantedLinks,
): AsyncGenerator<Pair[]> {
  const { table, own, other } = linkTable(relation);
  const { ids, limit } = wanted;
  const take = isAlways(wanted.condition) ? Math.min(PAGE, limit) : PAGE;
  let last: Pair | undefined;
  let page: readonly Pair[];
  do {
    // The names are identifiers from the definitions; the ids are parameters.
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

/** The pairs of a page whose other end meets the condition. */
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
    return modelApi(client, open.planOf(target)).findMany({ where, select: { id: true } });
  });
  const found = new Set(rows.map(({ id }) => id));
  return page.filter((link) => found.has(link.target));
}

/**
 * Adds or removes pairs. A manyToMany relation is an implicit one in Prisma: its table can be written with connect and
 * disconnect only.
 * @throws ValidationFailedError when one end of a new pair does not exist
 */
export async function changeLinks(
  session: ClientSession,
  { kind, relation, id, targets }: ChangePairs,
): Promise<undefined> {
  const { source, name } = relation;
  const plan = session.connection().planOf(source);
  for (let start = 0; start < targets.length; start += MOST_AT_ONCE) {
    const ends = targets.slice(start, start + MOST_AT_ONCE).map((target) => ({ id: target }));
    const data = { [name]: { [kind === "link" ? "connect" : "disconnect"]: ends } };
    const changed = await session.write({ model: source.name, operation: kind }, (client) =>
      missingAsFalse(modelApi(client, plan).update({ where: { id }, data, select: { id: true } })),
    );
    if (!changed && kind === "link") throw danglingReference([`${name}Ids`]);
  }
}

/** Returns false when the record or one of the others does not exist. */
async function missingAsFalse(statement: Promise<unknown>): Promise<boolean> {
  try {
    await statement;
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "P2025") return false;
    throw error;
  }
}
