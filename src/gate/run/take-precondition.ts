import type { AnyEntity } from "../../entity/index.ts";
import { AuthorizationError, BadRequestError, ConflictError, PreconditionFailedError } from "../../kernel/index.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { Operation, OperationInput } from "../operation/operation.ts";
import type { Precondition } from "../operation/operation-scope.ts";
import { asReader, storedRecord } from "../requirement/decisions.ts";
import { missingOrDenied } from "../requirement/unmatched.ts";

/**
 * Adds the precondition of the call or of its scope to an operation that changes a record. Guessing versions reveals
 * nothing about a record that the caller may not read.
 */
export async function takePrecondition(operation: MutableOperation): Promise<void> {
  operation.precondition ??= isAskedOf(operation) ? operation.scope.state.precondition : undefined;
  const { precondition } = operation;
  if (precondition !== undefined)
    operation.require(await asReader(operation, precondition.where()), () => precondition.refusal());
}

/** Whether the scope's precondition is for the record of this operation. */
export function isAskedOf({ kind, entity, id, scope }: MutableOperation): boolean {
  const { precondition } = scope.state;
  return kind !== "read" && precondition?.entity === entity && precondition.id === id;
}

/**
 * Converts `ifVersion` of in-process calls into a precondition.
 * @throws BadRequestError for an invalid version, or for an entity without versions
 */
export function versionIs(entity: AnyEntity, id: string, version: number | undefined): Precondition | undefined {
  if (version === undefined) return undefined;
  if (entity.versioned === undefined || !Number.isInteger(version))
    throw new BadRequestError(`ifVersion is a whole number, for entities that are .versioned(): ${entity.name}`);
  return { entity, id, where: () => ({ version }), refusal: () => new PreconditionFailedError() };
}

type Values = NonNullable<OperationInput["set"]>;

/**
 * Adds the values that a surface itself stores to the caller's data. Fields that the rules forbid the caller to write
 * stay forbidden.
 * @throws AuthorizationError
 */
export function setValues(operation: MutableOperation, values: Values): void {
  const { entity, principal, scope } = operation;
  const { writable } = scope.access.mask(entity);
  const isOpen = (name: string): boolean =>
    principal.kind === "system" || writable.has(name) || entity.fields[name]?.readonly === true;
  if (!Object.keys(values).every(isOpen)) throw new AuthorizationError();
  operation.data = { ...operation.data, ...values };
}

/**
 * Refuses the operation when a hook has dropped one of these values, because the caller may not write it on this
 * record.
 * @throws AuthorizationError; EntityNotFoundError when the record does not exist
 */
export async function refuseDropped(operation: MutableOperation, values: Values): Promise<void> {
  if (!operation.ignored.some((name) => Object.hasOwn(values, name))) return;
  throw (await storedRecord(operation)) === null ? await missingOrDenied(operation) : new AuthorizationError();
}

/** Determines which fields a conflict may reveal to the caller. */
export interface ConflictNames {
  /** The submitted values, before hooks filled in or dropped any. */
  readonly submitted: Readonly<Record<string, unknown>>;
  /** Fields that the caller may read. */
  readonly readable: ReadonlySet<string>;
}

/**
 * Restricts a conflict to fields that the caller sent, and to filled-in fields that they may read. Other names would
 * reveal records or fields that they cannot see.
 */
export function withNamesOnly(
  error: ConflictError,
  { data, ignored }: Operation,
  { submitted, readable }: ConflictNames,
): ConflictError {
  const isTold = (field: string): boolean =>
    Object.hasOwn(submitted, field) ? !ignored.includes(field) : Object.hasOwn(data, field) && readable.has(field);
  const fields = error.fields.filter(isTold);
  return fields.length === error.fields.length
    ? error
    : new ConflictError(error.message, { fields, code: error.code, cause: error });
}
