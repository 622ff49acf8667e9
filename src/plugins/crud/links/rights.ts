import { type Access, type AnyEntity, isKeelsonError } from "../../../entity/index.ts";
import { AuthorizationError, type OperationScope } from "../../../kernel/index.ts";

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * A pair of a many-to-many relation belongs to both sides: where the other side declares the relation too, changing a pair
 * takes the update right on the record there. Call it in the transaction that changes the pairs. Where transactions run
 * concurrently, the records are locked first, in the order of their ids, and the rules are asked afterwards, so that they
 * see what was committed in the meantime.
 * @param records ids of the records at the other end, by their entity
 * @throws AuthorizationError
 */
export async function assertMayUpdate(
  scope: OperationScope,
  records: ReadonlyMap<AnyEntity, readonly string[]>,
): Promise<void> {
  if (scope.principal.kind === "system") return;
  const entities = [...records.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entity of entities) {
    const ids = [...new Set(records.get(entity))].sort();
    const { forSome } = await scope.decide({ kind: "update", entity, ids });
    if (forSome) await assertMayUpdateEach(scope, entity, ids);
  }
}

async function assertMayUpdateEach(scope: OperationScope, entity: AnyEntity, ids: readonly string[]): Promise<void> {
  const { driver } = scope;
  if (driver.capabilities.concurrentTransactions) for (const id of ids) await driver.update(entity, { id }, { id }); // changes nothing, and locks the row
  for (const id of ids)
    if (!(await passes(scope, "update", entity, id)))
      throw new AuthorizationError(`Changing this relation takes the right to update ${entity.name} "${id}" as well`);
}

/**
 * Writing all pairs of a record at once tells which it had, so it takes the right to read the record.
 * @throws AuthorizationError
 */
export async function assertMayRead(scope: OperationScope, entity: AnyEntity, id: string): Promise<void> {
  if (scope.principal.kind === "system" || (await passes(scope, "read", entity, id))) return;
  throw new AuthorizationError(`Changing relations of a record takes the right to read it as well`);
}

async function passes(scope: OperationScope, access: Access, entity: AnyEntity, id: string): Promise<boolean> {
  try {
    const { applied } = await scope.run({ kind: "read", access, entity, id, query: { select: ["id"] }, ifFound: true });
    return applied;
  } catch (error) {
    if (isKeelsonError(error) && REFUSALS.has(error.status)) return false;
    throw error;
  }
}
