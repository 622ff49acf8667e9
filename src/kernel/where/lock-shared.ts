import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import type { Driver, Row } from "../ports/driver.ts";
import { type Condition, looksAt, visitCondition } from "./condition.ts";

// “Another administrator of the same group is left”: two administrators who go at the same time would each find the other.
// Where transactions run concurrently, such writes wait for each other at the record that both belong to, the group.

/** The belongsTo relations of an entity through which a condition on its records comes back to it. */
function sharedRelations(condition: Condition, entity: AnyEntity): readonly ResolvedRelation[] {
  const relations = new Map<string, ResolvedRelation>();
  visitCondition(condition, (leaf) => {
    if (leaf.op === "related" && leaf.relation.type === "belongsTo" && looksAt(leaf.matches, entity))
      relations.set(leaf.relation.name, leaf.relation);
    return false;
  });
  return [...relations.values()].sort((a, b) => (a.target.name < b.target.name ? -1 : 1));
}

/** Their keys. */
export function sharedKeys(condition: Condition, entity: AnyEntity): readonly string[] {
  return sharedRelations(condition, entity).map(({ foreignKey }) => foreignKey as string);
}

/**
 * Locks the records that a record belongs to, as far as a condition comes back from them to its entity.
 * @param store of a transaction
 * @param row the record, or what is to be stored
 */
export async function lockShared(store: Driver, condition: Condition, entity: AnyEntity, row: Row): Promise<void> {
  for (const { target, foreignKey } of sharedRelations(condition, entity)) {
    const id = row[foreignKey as string];
    if (typeof id === "string") await store.findOne(target, { id }, { select: ["id"], lock: true });
  }
}
