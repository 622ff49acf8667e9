import type { ResolvedRelation } from "../../entity/index.ts";
import type { Link, Row } from "../../kernel/index.ts";
import { modelApi } from "./client-shape.ts";
import type { EntityPlan } from "./entity-plan.ts";
import type { Session } from "./session.ts";
import { danglingReference } from "./to-keelson-error.ts";

// A manyToMany relation is Prisma's implicit one: a table that only connect, disconnect and select reach.

/** Ids of one statement; each source brings its targets along. */
const SOURCES = 500;

/** Pairs of a relation, ordered by source, then target. */
export async function selectLinks(
  session: Session,
  { entity, delegate }: EntityPlan,
  { name }: ResolvedRelation,
  ids: readonly string[],
): Promise<Link[]> {
  const links: Link[] = [];
  const wanted = [...new Set(ids)].sort();
  const select = { id: true, [name]: { select: { id: true }, orderBy: { id: "asc" } } };
  for (let start = 0; start < wanted.length; start += SOURCES) {
    const where = { id: { in: wanted.slice(start, start + SOURCES) } };
    const rows = await session.read({ model: entity.name, operation: "links" }, (client) =>
      modelApi(client, delegate).findMany({ where, select, orderBy: { id: "asc" } }),
    );
    for (const row of rows)
      for (const target of row[name] as readonly Row[])
        links.push({ source: row.id as string, target: target.id as string });
  }
  return links;
}

/** Adds pairs. @throws ValidationFailedError when one end does not exist */
export async function connectLinks(
  session: Session,
  { entity, delegate }: EntityPlan,
  { name }: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  const connect = [...new Set(targets)].map((target) => ({ id: target }));
  const isThere = await session.write({ model: entity.name, operation: "link" }, (client) =>
    missingAsFalse(
      modelApi(client, delegate).update({ where: { id }, data: { [name]: { connect } }, select: { id: true } }),
    ),
  );
  if (!isThere) throw danglingReference([`${name}Ids`]);
}

/** Removes pairs; a record that does not exist has none. */
export async function disconnectLinks(
  session: Session,
  { entity, delegate }: EntityPlan,
  { name }: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  const disconnect = [...new Set(targets)].map((target) => ({ id: target }));
  await session.write({ model: entity.name, operation: "unlink" }, (client) =>
    missingAsFalse(
      modelApi(client, delegate).update({ where: { id }, data: { [name]: { disconnect } }, select: { id: true } }),
    ),
  );
}

async function missingAsFalse(statement: Promise<unknown>): Promise<boolean> {
  try {
    await statement;
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "P2025") return false;
    throw error;
  }
}
