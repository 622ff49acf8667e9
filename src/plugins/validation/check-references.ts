import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  allowedBefore,
  compileWhere,
  type FurtherWrite,
  findsRecord,
  isAlways,
  looksAt,
  type Operation,
  type OperationScope,
} from "../../gate/index.ts";
import { ValidationFailedError } from "../../kernel/index.ts";

/** A foreign key whose target must be visible to the caller. */
export interface Reference {
  readonly column: string;
  readonly target: AnyEntity;
  /** Whether the column names the owner. The caller's own id needs no look-up there. */
  readonly isOwner: boolean;
}

/** The references of an entity. Remote ones are left out: their services decide when they are joined. */
export function referencesOf(model: EntityModel, entity: AnyEntity): Reference[] {
  return Object.values(entity.columns).flatMap(({ name, relation }) => {
    const resolved = relation === undefined ? undefined : model.relation(entity, relation);
    if (resolved === undefined || resolved.remote) return [];
    return [{ column: name, target: resolved.target, isOwner: relation === entity.ownedBy }];
  });
}

/**
 * The references of a write that need a look-up: those that are set, except the caller's own id as owner. References
 * that the system writes are left to the database.
 */
export function referencesToCheck(
  references: readonly Reference[],
  { principal, data }: Operation,
): readonly Reference[] {
  if (references.length === 0 || principal.kind === "system") return [];
  return references.filter(({ column, isOwner }) => {
    const id = data[column];
    return typeof id === "string" && !(isOwner && id === principal.user?.id);
  });
}

/**
 * Checks that referenced records exist for this caller. A hidden record gets the same error as a missing one. A
 * reference of an update that is already stored, and that the caller may read, is accepted: it becomes a condition of
 * the statement instead of a change.
 * @throws ValidationFailedError
 */
export async function checkReferences(references: readonly Reference[], operation: Operation): Promise<void> {
  const found = await Promise.all(references.map((reference) => isVisible(reference, operation)));
  const unseen = references.filter((_, index) => !found[index]);
  const stored = await Promise.all(unseen.map((reference) => isStored(reference, operation)));
  refuseMissing(unseen.filter((_, index) => !stored[index]));
  const { data } = operation;
  for (const { column } of unseen) {
    operation.require({ [column]: data[column] }, "changed");
    delete data[column];
  }
  await checkAgainLater(references, operation);
}

const later = new WeakMap<Operation, readonly Reference[]>();

/**
 * Checks references again in the write's transaction if their visibility depends on rules, because the write may wait
 * for a lock or the only writer after the first check. Effects of the write itself neither refuse nor justify a
 * reference.
 */
async function checkAgainLater(references: readonly Reference[], operation: Operation): Promise<void> {
  const { scope, entity, data, kind } = operation;
  const again: Reference[] = [];
  let isOnRecord = false;
  for (const reference of references) {
    if (data[reference.column] === undefined) continue;
    const { predicate, guard } = await scope.access.readDecision(reference.target);
    if (guard === undefined && isAlways(compileWhere(scope.app.model, reference.target, predicate))) continue;
    again.push(reference);
    isOnRecord ||= await dependsOn(reference.target, entity, scope);
  }
  const isAsked = later.has(operation);
  if (!isAsked && again.length === 0) return;
  later.set(operation, again);
  if (isAsked) return;
  operation.transactional = true;
  // With a single writer, a transaction that has begun does not wait, so one check before the statement is enough.
  const isConcurrent = scope.driver.capabilities.concurrentTransactions;
  if (!isConcurrent || (kind === "update" && isOnRecord)) operation.whenHeld(() => checkBefore(operation, []));
  operation.whenDecidedAgain((writes) => checkBefore(operation, writes));
}

/** Whether it may depend on records of an entity who sees the target of a reference. */
async function dependsOn(target: AnyEntity, entity: AnyEntity, { access, app }: OperationScope): Promise<boolean> {
  const { predicate, guard } = await access.readDecision(target);
  return target === entity || guard !== undefined || looksAt(compileWhere(app.model, target, predicate), entity);
}

/** Checks the references as if writes had not been made. */
async function checkBefore(operation: Operation, writes: readonly FurtherWrite[]): Promise<void> {
  const { scope, data } = operation;
  const written = new Set(writes.map(({ entity }) => entity));
  const isSeen = async (reference: Reference): Promise<boolean> => {
    const { column, target } = reference;
    const id = String(data[column]);
    for (const entity of written)
      if (await dependsOn(target, entity, scope))
        return (await allowedBefore(scope, target, await scope.access.readDecision(target), [id], writes)).has(id);
    return isVisible(reference, operation);
  };
  const again = later.get(operation) ?? [];
  const found = await Promise.all(again.map(isSeen));
  refuseMissing(again.filter((_, index) => !found[index]));
}

/** @throws ValidationFailedError */
function refuseMissing(references: readonly Reference[]): void {
  if (references.length === 0) return;
  throw new ValidationFailedError(
    references.map(({ column }) => ({ path: [column], code: "invalid_reference", message: "does not exist" })),
  );
}

function isVisible({ column, target }: Reference, { scope, data }: Operation): Promise<boolean> {
  return findsRecord(scope, { kind: "list", entity: target, query: { where: { id: data[column] } } });
}

/** Checked with the caller's rights, so that the result reveals nothing that the caller may not read. */
async function isStored({ column }: Reference, { kind, entity, id, scope, data }: Operation): Promise<boolean> {
  if (kind !== "update" || !scope.access.mask(entity).filterable.has(column)) return false;
  return findsRecord(scope, { kind: "read", entity, id, query: { where: { [column]: data[column] } } });
}
