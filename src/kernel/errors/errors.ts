import { ConfigurationError, KeelsonError, type KeelsonErrorOptions } from "../../entity/base/keelson-error.ts";

/** Error messages by field. */
export type FieldErrors = Readonly<Record<string, string>>;

/** One problem at one path of the input. */
export interface ValidationIssue {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
}

/** The entity, record or route does not exist; 404 (spec section 7). */
export class EntityNotFoundError extends KeelsonError {
  constructor(message = "Not found", options?: KeelsonErrorOptions) {
    super("NOT_FOUND", 404, message, options);
  }
}

/** The request as a whole is invalid (a parameter, the path, the body's format); 400. */
export class BadRequestError extends KeelsonError {
  constructor(message: string, options?: KeelsonErrorOptions) {
    super("BAD_REQUEST", 400, message, options);
  }
}

/** Texts become issues of the data as a whole. @throws ConfigurationError */
function toIssue(issue: ValidationIssue | string): ValidationIssue {
  if (typeof issue === "string") return { path: [], code: "custom", message: issue };
  if (Array.isArray(issue?.path)) return issue;
  throw new ConfigurationError(
    'A validation error takes texts, issues ({ path, code, message }) or messages by field: validationError({ title: "is taken" })',
  );
}

/** Values of the input are invalid; 400 with `errors` by field and `issues` in full (spec section 7). */
export class ValidationFailedError extends KeelsonError {
  readonly errors: FieldErrors;
  readonly issues: readonly ValidationIssue[];

  constructor(
    issues: readonly (ValidationIssue | string)[] | FieldErrors,
    message = "Validation failed",
    options?: KeelsonErrorOptions,
  ) {
    super("VALIDATION_FAILED", 400, message, options);
    this.issues = Array.isArray(issues)
      ? issues.map(toIssue)
      : Object.entries((issues ?? {}) as FieldErrors).map(([field, text]) => ({
          path: [field],
          code: "custom",
          message: text,
        }));
    const errors: Record<string, string> = {};
    for (const issue of this.issues) errors[issue.path.join(".") || "_"] ??= issue.message;
    this.errors = errors;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), errors: this.errors, issues: this.issues };
  }
}

/** The caller is anonymous, or their credentials or identity are not valid; 401 (spec section 7). */
export class AuthenticationError extends KeelsonError {
  constructor(message = "Authentication required", options?: KeelsonErrorOptions) {
    super("UNAUTHENTICATED", 401, message, options);
  }
}

/** The caller may not do this; 403 (spec section 7). */
export class AuthorizationError extends KeelsonError {
  constructor(message = "Permission denied", options?: KeelsonErrorOptions) {
    super("FORBIDDEN", 403, message, options);
  }
}

/** The path exists, the method does not; 405 with `Allow`. */
export class MethodNotAllowedError extends KeelsonError {
  constructor(allow: readonly string[]) {
    super("METHOD_NOT_ALLOWED", 405, "Method not allowed", { headers: { allow: allow.join(", ") } });
  }
}

/** Another record conflicts; 409 (spec section 7). `fields` are the columns that collide. */
export class ConflictError extends KeelsonError {
  readonly fields: readonly string[];

  constructor(
    message = "Conflict with an existing record",
    options: KeelsonErrorOptions & { fields?: readonly string[]; code?: string } = {},
  ) {
    super(options.code ?? "CONFLICT", 409, message, options);
    this.fields = options.fields ?? [];
  }

  override toJSON(): Record<string, unknown> {
    const errors = Object.fromEntries(this.fields.map((field) => [field, "is already taken"]));
    return this.fields.length === 0 ? super.toJSON() : { ...super.toJSON(), errors };
  }
}

/**
 * The record has changed since a rule or a validator read it; 409. The gate retries a few times before it throws this.
 */
export class RecordChangedError extends ConflictError {
  constructor() {
    super("The record is being changed by others; try again");
  }
}

/** Other records still refer to this one; 409. */
export class ReferencedError extends ConflictError {
  constructor(message = "Other records still refer to this one", options?: KeelsonErrorOptions) {
    super(message, { ...options, code: "REFERENCED" });
  }
}

/** A precondition of the request (`If-Match`) does not hold; 412. */
export class PreconditionFailedError extends KeelsonError {
  constructor(message = "The record has changed since it was read", options?: KeelsonErrorOptions) {
    super("PRECONDITION_FAILED", 412, message, options);
  }
}

/** The request must contain the record's version (RFC 6585); 428. */
export class PreconditionRequiredError extends KeelsonError {
  constructor(message = 'The request needs "If-Match" with the record\'s version', options?: KeelsonErrorOptions) {
    super("PRECONDITION_REQUIRED", 428, message, options);
  }
}

/** The body is larger than the limit; 413. */
export class PayloadTooLargeError extends KeelsonError {
  constructor(limit: number, options?: KeelsonErrorOptions) {
    super("PAYLOAD_TOO_LARGE", 413, `The body is larger than ${limit} bytes`, options);
  }
}

/** The body is not JSON; 415. */
export class UnsupportedMediaTypeError extends KeelsonError {
  constructor(message = 'The body must be JSON with "Content-Type: application/json"') {
    super("UNSUPPORTED_MEDIA_TYPE", 415, message);
  }
}

/** Too many requests; 429 with `Retry-After` in seconds. */
export class RateLimitedError extends KeelsonError {
  constructor(retryAfter: number, message = "Too many requests") {
    super("RATE_LIMITED", 429, message, { headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfter))) } });
  }
}

/** A plugin failed; 500 (spec section 7). */
export class PluginError extends KeelsonError {
  constructor(message: string, options?: KeelsonErrorOptions) {
    super("PLUGIN_ERROR", 500, message, options);
  }
}

/** The database refused a statement or failed; 500 (spec section 7). Never contains the database's own message. */
export class DatabaseError extends KeelsonError {
  constructor(
    message = "The database could not do this",
    options: KeelsonErrorOptions & { code?: string; status?: number } = {},
  ) {
    super(options.code ?? "DATABASE_ERROR", options.status ?? 500, message, options);
  }
}

/** The reason why a stored value could not be decrypted. */
export type DecryptionFailure = "malformed" | "unknown-key" | "no-context" | "refused";

/** A stored value cannot be decrypted; 500. The message contains no value and no key, and is only logged. */
export class DecryptionError extends KeelsonError {
  /**
   * "malformed": not an encrypted value; "unknown-key": its key is not registered; "no-context": its key binds values
   * to their location, which the call did not pass; "refused": the value was changed, moved, or encrypted with another
   * key.
   */
  readonly reason: DecryptionFailure;

  constructor(
    message = "A stored value cannot be decrypted",
    { reason = "refused", ...options }: KeelsonErrorOptions & { readonly reason?: DecryptionFailure } = {},
  ) {
    super("DECRYPTION_FAILED", 500, message, options);
    this.reason = reason;
  }
}

/** The database, or a service it depends on, is currently unreachable; 503 with `Retry-After`. */
export class DatabaseUnavailableError extends DatabaseError {
  constructor(message = "The database is not available", options: KeelsonErrorOptions = {}) {
    super(message, { headers: { "retry-after": "2" }, ...options, code: "DATABASE_UNAVAILABLE", status: 503 });
  }
}

/** A dependency other than the database (the app's `getUser`, a hook past its deadline) is down; 503. */
export class UnavailableError extends KeelsonError {
  constructor(message: string, options: KeelsonErrorOptions = {}) {
    super("UNAVAILABLE", 503, message, { headers: { "retry-after": "2" }, ...options });
  }
}

/** An unexpected failure; 500 with a generic message. */
export class InternalError extends KeelsonError {
  constructor(message = "Something went wrong", options?: KeelsonErrorOptions) {
    super("INTERNAL", 500, message, options);
  }
}

/**
 * The condition of a create does not hold; nothing was stored. Drivers throw it, and the gate converts it: see
 * `CreateOptions`.
 */
export class NotStoredError extends InternalError {
  constructor() {
    super("The condition of the create does not hold; nothing was stored");
  }
}

/** Details of a failed workflow. */
export interface WorkflowFailure {
  readonly failedStep: string;
  /** Compensated steps, in the order of compensation. */
  readonly compensatedSteps: readonly string[];
  readonly runId: string;
}

/** A step of a workflow failed, and the steps before it were compensated; 500. */
export class WorkflowFailedError extends KeelsonError {
  readonly failure: WorkflowFailure;

  constructor(failure: WorkflowFailure, message = "The workflow failed", options?: KeelsonErrorOptions) {
    super("WORKFLOW_FAILED", 500, message, options);
    this.failure = failure;
  }

  override toJSON(): Record<string, unknown> {
    const { failedStep, compensatedSteps, runId } = this.failure;
    return { ...super.toJSON(), failedStep, compensatedSteps, runId };
  }
}
