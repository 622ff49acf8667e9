import type { ResolvedRelation } from "../../../../entity/index.ts";
import type { ChangePairs } from "../../../../gate/index.ts";
import { danglingReference } from "../../../sql/index.ts";
import type { ClientSession } from "../words/client-connection.ts";
import { type Args, modelApi } from "../words/client-shape.ts";

// A manyToMany relation is Prisma's implicit one: a table that only connect and disconnect write.

/** Pairs of one statement. Prisma makes a condition of each, and SQLite takes no thousand of those. */
const PAIRS = 500;

/** Whether pairs need more than one statement. */
export function needsSeveralPortions(targets: readonly string[]): boolean {
  return targets.length > PAIRS;
}

function* portions(targets: readonly string[]): Generator<readonly { readonly id: string }[]> {
  for (let start = 0; start < targets.length; start += PAIRS)
    yield targets.slice(start, start + PAIRS).map((id) => ({ id }));
}

/** Adds pairs. @throws ValidationFailedError when one end does not exist */
export async function connectLinks(session: ClientSession, { relation, id, targets }: ChangePairs): Promise<undefined> {
  for (const connect of portions(targets))
    if (!(await changeRelation(session, relation, id, { connect }))) throw danglingReference([`${relation.name}Ids`]);
}

/** Removes pairs; a record that does not exist has none. */
export async function disconnectLinks(
  session: ClientSession,
  { relation, id, targets }: ChangePairs,
): Promise<undefined> {
  for (const disconnect of portions(targets)) await changeRelation(session, relation, id, { disconnect });
}

/** @returns whether the record is there, and the others */
function changeRelation(
  session: ClientSession,
  { source, name }: ResolvedRelation,
  id: string,
  change: Args,
): Promise<boolean> {
  const { delegate } = session.connection().planOf(source);
  const update = { where: { id }, data: { [name]: change }, select: { id: true } };
  return session.write({ model: source.name, operation: "connect" in change ? "link" : "unlink" }, (client) =>
    missingAsFalse(modelApi(client, delegate).update(update)),
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
