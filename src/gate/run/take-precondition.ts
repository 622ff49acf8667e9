import type { AnyEntity } from "../../entity/index.ts";
import { BadRequestError, PreconditionFailedError } from "../../kernel/index.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { Precondition } from "../operation/precondition.ts";
import { asReader } from "../requirement/stored-record.ts";

/**
 * Has an operation that changes a record carry what was asked of it, by its own caller or of its scope: trying one version
 * after the other tells nothing about a record that the caller may not read.
 */
export async function takePrecondition(operation: MutableOperation): Promise<void> {
  operation.precondition ??= isAskedOf(operation) ? operation.scope.precondition : undefined;
  const { precondition } = operation;
  if (precondition !== undefined)
    operation.require(await asReader(operation, precondition.where()), () => precondition.refusal());
}

/** Whether an operation changes the record of its scope's precondition. */
export function isAskedOf({ kind, entity, id, scope: { precondition } }: MutableOperation): boolean {
  return kind !== "read" && precondition?.entity === entity && precondition.id === id;
}

/** `ifVersion` of calls in the process. @throws BadRequestError for what can be no version, or has none */
export function versionIs(entity: AnyEntity, id: string, version: number | undefined): Precondition | undefined {
  if (version === undefined) return undefined;
  if (entity.versioned === undefined || !Number.isInteger(version))
    throw new BadRequestError(`ifVersion is a whole number, for entities that are .versioned(): ${entity.name}`);
  return { entity, id, where: () => ({ version }), refusal: () => new PreconditionFailedError() };
}
