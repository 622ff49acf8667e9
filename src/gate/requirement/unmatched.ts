import {
  AuthenticationError,
  AuthorizationError,
  EntityNotFoundError,
  InternalError,
  RecordChangedError,
} from "../../kernel/index.ts";
import { allOf } from "../condition/compile-where.ts";
import type { Where } from "../condition/condition.ts";
import {
  beyondReach,
  conditionUpTo,
  isRequired,
  type MutableOperation,
  type Otherwise,
} from "../operation/new-operation.ts";
import type { Operation } from "../operation/operation.ts";

/**
 * The error for a statement that matched no record: that of the first requirement the record does not meet. Rules come
 * first: the caller may not change the record. Values that a guard saw must be unchanged.
 */
export async function unmatched(operation: MutableOperation): Promise<Error> {
  const { entity, id, decision, requirements, scope } = operation;
  const { guard, predicate } = decision;
  const reachable = allOf({ id }, guard === undefined ? predicate : undefined, conditionUpTo(requirements, "denied"));
  const finds = async (...besides: readonly Where[]): Promise<boolean> =>
    (await scope.store.findOne(entity, allOf(reachable, ...besides), { select: ["id"] })) !== null;
  const beyond = beyondReach(requirements);
  if ((beyond.length === 0 && guard === undefined) || !(await finds())) return missingOrDenied(operation);
  for (const [index, { test, otherwise }] of beyond.entries()) {
    if (otherwise === "changed") break;
    const isLast = index === beyond.length - 1 && guard === undefined;
    if (isLast || (typeof test !== "function" && !(await finds(test)))) return errorOf(otherwise);
  }
  return new RecordChangedError();
}

function errorOf(otherwise: Otherwise): Error {
  return typeof otherwise === "function" ? otherwise() : NOTHING_DONE;
}

/**
 * Distinguishes a missing record from a forbidden one, with one read, after a statement matched nothing. Anonymous
 * callers get the same error for both, so that they cannot find out which records exist.
 */
export async function missingOrDenied(operation: MutableOperation): Promise<Error> {
  const { entity, id, scope, decision, requirements } = operation;
  if (operation.ifFound) return NOTHING_DONE;
  const { predicate, guard } = decision;
  if (predicate === undefined && guard === undefined && !isRequired(requirements, "denied"))
    return new EntityNotFoundError();
  if (scope.principal.kind === "anonymous") return recordDenied(operation);
  const hidden = decision.missing && { NOT: decision.missing };
  const there = allOf({ id }, conditionUpTo(requirements, "missing"), hidden);
  const exists = await scope.store.findOne(entity, there, { select: ["id"] });
  return exists === null ? new EntityNotFoundError() : recordDenied(operation);
}

/**
 * The error for a refused operation: 401 for anonymous callers, 403 for others, 404 where the entity hides forbidden
 * records. Outside production it names the rules that decided.
 */
export function deniedError(operation: Operation, production: boolean): Error {
  const { entity, principal, access, decision } = operation;
  if (principal.kind === "anonymous") return new AuthenticationError();
  if (entity.hideForbidden && (operation.ids ?? operation.id) !== undefined) return new EntityNotFoundError();
  const { rules = [], reason } = decision;
  const details = { entity: entity.name, access, rules, ...(reason === undefined ? {} : { reason }) };
  return new AuthorizationError(undefined, production ? {} : { details });
}

/** The error for an operation that is refused because of the record. */
export function recordDenied(operation: MutableOperation): Error {
  return operation.ifFound ? NOTHING_DONE : deniedError(operation, operation.scope.runtime.production);
}

/**
 * Thrown to end an operation that does not change its record (`when`, `ifFound`) without an error, and its transaction,
 * if it began one. It never leaves the gate. A shared instance: capturing the stack is the main cost and is never used.
 */
export const NOTHING_DONE: Error = new InternalError("Nothing was done");
