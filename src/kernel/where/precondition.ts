import type { AnyEntity } from "../../entity/index.ts";
import { BadRequestError, PreconditionFailedError } from "../errors/errors.ts";
import type { MutableOperation } from "../operations/new-operation.ts";
import type { Where } from "../ports/driver.ts";
import type { Precondition } from "../ports/precondition.ts";
import { allOf } from "./condition.ts";
import { passes, readDecisionOf } from "./withhold-unreadable.ts";

const NO_RECORD: Where = Object.freeze({ id: { in: [] } });

/** Has an operation that changes a record carry what was asked of it: by its own caller, or of its scope. */
export async function takePrecondition(operation: MutableOperation): Promise<void> {
  operation.precondition ??= isAskedOf(operation) ? operation.scope.precondition : undefined;
  if (operation.precondition !== undefined) operation.required = await forReader(operation, operation.precondition);
}

/** Whether an operation changes the record of its scope's precondition. */
export function isAskedOf({ kind, entity, id, scope: { precondition } }: MutableOperation): boolean {
  return kind !== "read" && precondition?.entity === entity && precondition.id === id;
}

/**
 * What a precondition comes to for its caller: it holds of no record that they may not read, so that trying one version
 * after the other tells nothing about it.
 */
async function forReader(operation: MutableOperation, precondition: Precondition): Promise<Where> {
  const { entity, id, principal, scope } = operation;
  const where = precondition.where();
  if (principal.kind === "system") return where;
  const decision = await readDecisionOf(operation, String(id));
  if (!decision.allowed) return NO_RECORD;
  if (decision.guard === undefined) return allOf(where, decision.predicate);
  const row = await scope.store.findOne(entity, { id });
  return row !== null && (await passes(operation, decision, row)) ? where : NO_RECORD;
}

/** `ifVersion` of calls in the process. @throws BadRequestError for what can be no version, or has none */
export function versionIs(entity: AnyEntity, id: string, version: number | undefined): Precondition | undefined {
  if (version === undefined) return undefined;
  if (entity.versioned === undefined || !Number.isInteger(version))
    throw new BadRequestError(`ifVersion is a whole number, for entities that are .versioned(): ${entity.name}`);
  return { entity, id, where: () => ({ version }), refusal: () => new PreconditionFailedError() };
}
