import { AuthenticationError, AuthorizationError, EntityNotFoundError } from "../../kernel/index.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { Operation } from "../operation/operation.ts";
import { NOTHING_DONE } from "./nothing-done.ts";

/**
 * The error for a refused operation: 401 for anonymous callers, 403 for others, 404 where the entity hides what is
 * forbidden. Outside production it names the rules that were asked.
 */
export function deniedError(operation: Operation, production: boolean): Error {
  const { entity, principal, access, decision } = operation;
  if (principal.kind === "anonymous") return new AuthenticationError();
  if (entity.hideForbidden && (operation.ids ?? operation.id) !== undefined) return new EntityNotFoundError();
  const { rules = [], reason } = decision;
  const details = { entity: entity.name, access, rules, ...(reason === undefined ? {} : { reason }) };
  return new AuthorizationError(undefined, production ? {} : { details });
}

/** The same when it is for the record that the operation is refused. */
export function recordDenied(operation: MutableOperation): Error {
  return operation.ifFound ? NOTHING_DONE : deniedError(operation, operation.scope.runtime.production);
}
