import type { KeelsonErrorOptions } from "../../entity/base/keelson-error.ts";
import {
  AuthenticationError,
  AuthorizationError,
  ConflictError,
  EntityNotFoundError,
  type FieldErrors,
  InternalError,
  ValidationFailedError,
  type ValidationIssue,
} from "./errors.ts";

/** 404. Builders return errors, so use `throw notFoundError()` (spec section 7). */
export function notFoundError(message?: string, options?: KeelsonErrorOptions): EntityNotFoundError {
  return new EntityNotFoundError(message, options);
}
/** 400 with messages by field, full issues, or messages for the data as a whole. */
export function validationError(
  errors: FieldErrors | readonly (ValidationIssue | string)[],
  message?: string,
): ValidationFailedError {
  return new ValidationFailedError(errors, message);
}
/** The caller is not authenticated; 401. */
export function unauthorizedError(message?: string, options?: KeelsonErrorOptions): AuthenticationError {
  return new AuthenticationError(message, options);
}
/** The caller may not do this; 403. */
export function forbiddenError(message?: string, options?: KeelsonErrorOptions): AuthorizationError {
  return new AuthorizationError(message, options);
}
/** 409; `fields` are the columns whose values are already taken. */
export function conflictError(
  message?: string,
  options?: KeelsonErrorOptions & { fields?: readonly string[] },
): ConflictError {
  return new ConflictError(message, options);
}
/** An unexpected failure; 500. */
export function internalError(message?: string, options?: KeelsonErrorOptions): InternalError {
  return new InternalError(message, options);
}
