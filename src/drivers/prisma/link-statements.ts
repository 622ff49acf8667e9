import type { ResolvedRelation } from "../../entity/index.ts";
import { modelApi } from "./client-shape.ts";
import type { EntityPlan } from "./entity-plan.ts";
import type { Session } from "./session.ts";
import { danglingReference } from "./to-keelson-error.ts";

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
export async function connectLinks(
  session: Session,
  { entity, delegate }: EntityPlan,
  { name }: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  for (const connect of portions(targets)) {
    const isThere = await session.write({ model: entity.name, operation: "link" }, (client) =>
      missingAsFalse(
        modelApi(client, delegate).update({ where: { id }, data: { [name]: { connect } }, select: { id: true } }),
      ),
    );
    if (!isThere) throw danglingReference([`${name}Ids`]);
  }
}

/** Removes pairs; a record that does not exist has none. */
export async function disconnectLinks(
  session: Session,
  { entity, delegate }: EntityPlan,
  { name }: ResolvedRelation,
  id: string,
  targets: readonly string[],
): Promise<void> {
  for (const disconnect of portions(targets))
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
