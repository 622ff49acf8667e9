import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  asReader,
  type Condition,
  compileWhere,
  type FurtherWrite,
  findsRecord,
  isAlways,
  looksAt,
  type Operation,
  type Reasons,
  reasonsFor,
  stillAllowed,
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
    operation.require(await asReader(operation, { [column]: data[column] }), "changed");
    delete data[column];
  }
  await checkAgainLater(references, operation);
}

/** A reference that is checked again, with the rule that decides who sees its target. */
interface Again {
  readonly reference: Reference;
  /** A condition, if no rule has to read the target. */
  readonly rule: Condition | undefined;
  /** Why the caller sees the target; known if a rule has read it. */
  reasons?: Reasons;
}

const later = new WeakMap<Operation, readonly Again[]>();

/**
 * Checks references again in the write's transaction if their visibility depends on rules, because the write may wait
 * for a lock or the only writer after the first check. Effects of the write itself neither refuse nor justify a
 * reference.
 */
async function checkAgainLater(references: readonly Reference[], operation: Operation): Promise<void> {
  const { scope, entity, data, kind } = operation;
  const again: Again[] = [];
  for (const reference of references) {
    if (data[reference.column] === undefined) continue;
    const { predicate, guard } = await scope.access.readDecision(reference.target);
    const rule = compileWhere(scope.app.model, reference.target, predicate);
    if (guard !== undefined) again.push({ reference, rule: undefined });
    else if (!isAlways(rule)) again.push({ reference, rule });
  }
  const isAsked = later.has(operation);
  if (!isAsked && again.length === 0) return;
  later.set(operation, again);
  if (isAsked) return;
  operation.transactional = true;
  // With a single writer, a transaction that has begun does not wait, so one check before the statement is enough.
  const isConcurrent = scope.driver.capabilities.concurrentTransactions;
  const isHeld = (one: Again): boolean => one.rule === undefined || (kind === "update" && dependsOn(one, entity));
  if (!isConcurrent || again.some(isHeld)) operation.whenHeld(() => checkHeld(operation));
  operation.whenDecidedAgain((writes) => checkBefore(operation, writes));
}

/** Whether it may depend on records of an entity who sees the target of a reference. */
function dependsOn({ reference: { target }, rule }: Again, entity: AnyEntity): boolean {
  return target === entity || rule === undefined || looksAt(rule, entity);
}

/** Checks the references when the record is locked, before the write. */
async function checkHeld(operation: Operation): Promise<void> {
  const { scope, data } = operation;
  await refuseUnseen(operation, async (one) => {
    const { reference, rule } = one;
    if (rule !== undefined) return isVisible(reference, operation);
    const id = String(data[reference.column]);
    one.reasons = await reasonsFor(scope, reference.target, await scope.access.readDecision(reference.target), [id]);
    return one.reasons.has(id);
  });
}

/** Checks the references as if writes had not been made. */
async function checkBefore(operation: Operation, writes: readonly FurtherWrite[]): Promise<void> {
  const { scope, data } = operation;
  const written = [...new Set(writes.map(({ entity }) => entity))];
  await refuseUnseen(operation, async (one) => {
    const { reference, rule } = one;
    const id = String(data[reference.column]);
    const reasons = one.reasons ?? (rule && new Map([[id, rule]]));
    if (reasons === undefined || !written.some((entity) => dependsOn(one, entity)))
      return isVisible(reference, operation);
    return (await stillAllowed(scope, reference.target, reasons, writes)).has(id);
  });
}

async function refuseUnseen(operation: Operation, isSeen: (one: Again) => Promise<boolean>): Promise<void> {
  const again = later.get(operation) ?? [];
  const found = await Promise.all(again.map(isSeen));
  refuseMissing(again.filter((_, index) => !found[index]).map(({ reference }) => reference));
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
