import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  allOf,
  type Condition,
  compileWhere,
  findsRecord,
  isAlways,
  looksAt,
  type Operation,
  withoutRecord,
} from "../../gate/index.ts";
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

/** A reference that is looked up once more, and the rule that says who sees what it leads to. */
interface Again {
  readonly reference: Reference;
  readonly rule: Condition;
  /** Whether an update must see it without the record, as it did when it had locked it: the change may not show it by itself. */
  isApart?: boolean;
}

const later = new WeakMap<Operation, readonly Again[]>();

/**
 * A write may wait for others once its references are checked: for a lock, or for the only writer. Those that only some callers see
 * are checked again in its transaction: after its statement, and where the record itself may decide about them, also when it is
 * locked. What the record brings about by itself is no reason to refuse it, and none to let it pass.
 */
async function checkAgainLater(references: readonly Reference[], operation: Operation): Promise<void> {
  const { scope, entity, data, kind } = operation;
  const again: Again[] = [];
  for (const reference of references) {
    if (data[reference.column] === undefined) continue;
    const { predicate, guard } = await scope.access.readDecision(reference.target);
    const rule = compileWhere(scope.app.model, reference.target, predicate);
    if (guard !== undefined || !isAlways(rule)) again.push({ reference, rule });
  }
  const isAsked = later.has(operation);
  if (!isAsked && again.length === 0) return;
  later.set(operation, again);
  if (isAsked) return;
  operation.transactional = true;
  // The only writer waits no more once it has begun, so the change itself hides nothing from it.
  if (!scope.driver.capabilities.concurrentTransactions) {
    operation.whenHeld(() => checkAgain(operation, ({ reference }) => isVisible(reference, operation)));
    return;
  }
  const decides = again.some(({ rule }) => looksAt(rule, entity));
  if (kind === "update" && decides) operation.whenHeld(() => checkAgain(operation, isBefore));
  operation.whenWritten(() => checkAgain(operation, isStillVisible));
}

async function checkAgain(
  operation: Operation,
  isSeen: (one: Again, of: Operation) => Promise<boolean>,
): Promise<void> {
  const again = later.get(operation) ?? [];
  const found = await Promise.all(again.map((one) => isSeen(one, operation)));
  refuseMissing(again.filter((_, index) => !found[index]).map(({ reference }) => reference));
}

/** Of a locked record: only where the record may decide, since all others are checked after the statement. */
async function isBefore(one: Again, operation: Operation): Promise<boolean> {
  if (!looksAt(one.rule, operation.entity)) return true;
  one.isApart = await isVisibleWithout(one, operation, operation.id);
  return isVisible(one.reference, operation);
}

/** As it would be without the record; as it is now where the record does not decide, or showed it before. */
async function isStillVisible(one: Again, operation: Operation): Promise<boolean> {
  const { entity, kind, records } = operation;
  if (!looksAt(one.rule, entity)) return isVisible(one.reference, operation);
  if (await isVisibleWithout(one, operation, records[0]?.id)) return true;
  return kind === "update" && one.isApart === false && isVisible(one.reference, operation);
}

async function isVisibleWithout(
  { reference, rule }: Again,
  { scope, entity, data }: Operation,
  id: unknown,
): Promise<boolean> {
  const where = allOf({ id: data[reference.column] }, withoutRecord(rule, entity, id));
  return (await scope.driver.findOne(reference.target, where, { select: ["id"] })) !== null;
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
