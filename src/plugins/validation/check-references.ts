import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { compileWhere, findsRecord, looksAt, mayWaitForOthers, type Operation } from "../../gate/index.ts";
import { ValidationFailedError } from "../../kernel/index.ts";

/** A foreign key whose target must exist for the caller. */
export interface Reference {
  readonly column: string;
  readonly target: AnyEntity;
  /** Whether the column names the owner; one's own id there needs no look-up. */
  readonly isOwner: boolean;
}

/** Remote records are not ours to check: their services answer when they are joined. */
export function referencesOf(model: EntityModel, entity: AnyEntity): Reference[] {
  return Object.values(entity.columns).flatMap(({ name, relation }) => {
    const resolved = relation === undefined ? undefined : model.relation(entity, relation);
    if (resolved === undefined || resolved.remote) return [];
    return [{ column: name, target: resolved.target, isOwner: relation === entity.ownedBy }];
  });
}

/**
 * The references of a write that have to be looked up: those that are set, but not the caller's own id as owner. The
 * system's are left to the database.
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
 * Checks that referenced records exist for this caller: one that is hidden answers exactly like one that is missing.
 * Sending back what was read is fine all the same: a reference of an update that is already stored, where the caller can
 * read that, is a condition of the statement and no change.
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

/** References that are looked up once more: when the record is locked, and when it is stored. */
interface Later {
  readonly held: readonly Reference[];
  readonly written: readonly Reference[];
}

const later = new WeakMap<Operation, Later>();

/**
 * Where transactions run concurrently, a write may wait for others once its references are checked. Where a rule decides by other
 * records who sees what they lead to, they are checked again in its transaction: after its statement, or, where the record
 * itself may be one of these, as it is before.
 */
async function checkAgainLater(references: readonly Reference[], operation: Operation): Promise<void> {
  const { scope, entity, data, kind } = operation;
  if (!mayWaitForOthers(operation)) return;
  const held: Reference[] = [];
  const written: Reference[] = [];
  for (const reference of references) {
    if (data[reference.column] === undefined) continue;
    const { predicate, guard } = await scope.access.readDecision(reference.target);
    const rule = compileWhere(scope.app.model, reference.target, predicate);
    if (guard !== undefined || looksAt(rule, entity)) held.push(reference);
    else if (looksAt(rule)) written.push(reference);
  }
  const isAsked = later.has(operation);
  if (!isAsked && held.length + written.length === 0) return;
  later.set(operation, { held, written });
  if (isAsked) return;
  operation.transactional = true;
  if (kind === "update") operation.whenHeld(() => checkAgain(operation, "held"));
  operation.whenWritten(() => checkAgain(operation, "written"));
}

async function checkAgain(operation: Operation, when: keyof Later): Promise<void> {
  const again = later.get(operation)?.[when] ?? [];
  const found = await Promise.all(again.map((reference) => isVisible(reference, operation)));
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

/** Asked as the caller, so that a caller cannot find out by trying what they may not read. */
async function isStored({ column }: Reference, { kind, entity, id, scope, data }: Operation): Promise<boolean> {
  if (kind !== "update" || !scope.access.mask(entity).filterable.has(column)) return false;
  return findsRecord(scope, { kind: "read", entity, id, query: { where: { [column]: data[column] } } });
}
