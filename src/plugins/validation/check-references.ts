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

/** A reference that is checked again, with the rule that decides who sees its target. */
interface Again {
  readonly reference: Reference;
  readonly rule: Condition;
  /** Whether the target was visible without the record when an update had locked it. Then it must stay so. */
  isApart?: boolean;
}

const later = new WeakMap<Operation, readonly Again[]>();

/**
 * Checks references again in the write's transaction if their visibility depends on rules, because the write may wait
 * for a lock or the only writer after the first check. They are checked after the statement and, if the record itself
 * may affect their visibility, also when it is locked. Effects of the record's own change neither refuse nor justify a
 * reference.
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
  // With a single writer, a transaction that has begun does not wait, so one check before the statement is enough.
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

/**
 * Checks a reference when the record is locked, if the record may affect it. Others are checked after the statement.
 */
async function isBefore(one: Again, operation: Operation): Promise<boolean> {
  if (!looksAt(one.rule, operation.entity)) return true;
  one.isApart = await isVisibleWithout(one, operation, operation.id);
  return isVisible(one.reference, operation);
}

/**
 * Whether the target is visible after the statement without the record itself. Its current visibility counts if the record
 * does not affect it, is the target, or already made it visible when it was stored.
 */
async function isStillVisible(one: Again, operation: Operation): Promise<boolean> {
  const { entity, kind, records, data } = operation;
  const { target, column } = one.reference;
  if (!looksAt(one.rule, entity)) return isVisible(one.reference, operation);
  if (await isVisibleWithout(one, operation, records[0]?.id)) return true;
  const isItself = target === entity && data[column] === records[0]?.id;
  return kind === "update" && (isItself || one.isApart === false) && isVisible(one.reference, operation);
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

/** Checked with the caller's rights, so that the result reveals nothing that the caller may not read. */
async function isStored({ column }: Reference, { kind, entity, id, scope, data }: Operation): Promise<boolean> {
  if (kind !== "update" || !scope.access.mask(entity).filterable.has(column)) return false;
  return findsRecord(scope, { kind: "read", entity, id, query: { where: { [column]: data[column] } } });
}
