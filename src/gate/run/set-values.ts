import { AuthorizationError } from "../../kernel/index.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { OperationInput } from "../operation/operation.ts";
import { storedRecord } from "../requirement/stored-record.ts";
import { missingOrDenied } from "../requirement/unmatched.ts";

type Values = NonNullable<OperationInput["set"]>;

/**
 * Adds what a surface stores by itself to what the caller sent. What rules keep from the caller stays so on this way, too.
 * @throws AuthorizationError
 */
export function setValues(operation: MutableOperation, values: Values): void {
  const { entity, principal, scope } = operation;
  const { writable } = scope.mask(entity);
  const isOpen = (name: string): boolean =>
    principal.kind === "system" || writable.has(name) || entity.fields[name]?.readonly === true;
  if (!Object.keys(values).every(isOpen)) throw new AuthorizationError();
  operation.data = { ...operation.data, ...values };
}

/**
 * A hook has left out one of these values, because this record does not take it from the caller.
 * @throws AuthorizationError; EntityNotFoundError when there is no such record
 */
export async function refuseDropped(operation: MutableOperation, values: Values): Promise<void> {
  if (!operation.ignored.some((name) => Object.hasOwn(values, name))) return;
  throw (await storedRecord(operation)) === null ? await missingOrDenied(operation) : new AuthorizationError();
}
