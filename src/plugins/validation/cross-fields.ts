import {
  type AnyEntity,
  ConfigurationError,
  type CrossFieldContext,
  type CrossFieldValidator,
  type EntityLike,
  isObject,
  resolveEntity,
} from "../../entity/index.ts";
import {
  baseMask,
  entityOfRecord,
  expectUnchanged,
  type Operation,
  observe,
  type Row,
  storedRecord,
} from "../../gate/index.ts";
import { getLogger, type Logger, safeLogger, ValidationFailedError, type ValidationIssue } from "../../kernel/index.ts";

/**
 * Runs validators on the whole record: on create on the record that will be stored, on update on the stored record with
 * its changes. Stored columns that a validator read must be unchanged when the statement runs. Of two concurrent
 * updates that together would break a rule, the second is validated again. Validators get a frozen record.
 * @throws ValidationFailedError with one issue per validator that does not return strictly `true`
 */
export async function checkCrossFields(
  validators: readonly CrossFieldValidator[],
  operation: Operation,
): Promise<void> {
  const { entity, data, kind, principal, scope } = operation;
  const existing = kind === "update" ? await storedRecord(operation) : {};
  if (existing === null) return; // there is no record that this caller may change; the statement reports it
  const seen = observe(entity, changedRecord(entity, existing, data));
  const issues = await findIssues({
    entity,
    checks: validators,
    record: seen.record,
    operation: kind as "create" | "update",
    user: principal.user,
    log: scope.app.log,
    mayName(field) {
      const { readable, writable } = scope.access.mask(entity);
      return principal.kind === "system" || readable.has(field) || writable.has(field);
    },
  });
  if (issues.length > 0) throw new ValidationFailedError(issues);
  if (kind === "update") expectUnchanged(operation, seen, data);
}

/** A validator of a record: from an entity (`post.validators`), or written inline. */
export type CrossFieldCheck = Pick<CrossFieldValidator, "test" | "message"> &
  Partial<Pick<CrossFieldValidator, "fields" | "operations">>;

/** Options for validators of an entity. */
export interface CrossFieldsOptions {
  /** The stored record; needed for an update. */
  readonly existing?: object | null | undefined;
  /** The user who writes. @default null */
  readonly user?: unknown;
}

/**
 * Checks a record with validators over several fields. `(data, validators)` runs all validators on the given record.
 * `(data, entity, operation, options)` runs the entity's validators for the operation; on update, they get `existing`
 * with the data merged into it.
 *
 * Returns a list of issues, which is empty for a valid record. A validator passes if it returns strictly `true`,
 * directly or as a promise. It fails if it throws or tries to change the record. An issue names the first of the
 * validator's `fields`; for an entity, only if all callers may know of the field or the data contains it. Specification
 * section 1.1.
 *
 * @throws ConfigurationError for an update without `existing`, and for data that is not a record
 * @example
 * const issues = await validateCrossFields(body, post, "update", { existing, user });
 * if (issues.length > 0) throw validationError(issues);
 */
export function validateCrossFields(data: object, validators: readonly CrossFieldCheck[]): Promise<ValidationIssue[]>;
export function validateCrossFields(
  data: object,
  entity: EntityLike,
  operation: "create" | "update",
  options?: CrossFieldsOptions,
): Promise<ValidationIssue[]>;
export async function validateCrossFields(
  data: object,
  subject: readonly CrossFieldCheck[] | EntityLike,
  operation?: "create" | "update",
  { existing, user = null }: CrossFieldsOptions = {},
): Promise<ValidationIssue[]> {
  if (!isObject(data)) throw new ConfigurationError("validateCrossFields takes one record");
  if (isList(subject)) {
    const entity = entityOfRecord(data);
    const record = Object.freeze(entity ? changedRecord(entity, data as Row, {}) : { ...data });
    return findIssues({ entity, checks: subject, record, user: null, log: safeLogger(getLogger()) });
  }
  if (operation !== "create" && operation !== "update")
    throw new ConfigurationError(
      'validateCrossFields(data, entity, operation) takes the operation "create" or "update"',
    );
  const entity = resolveEntity(subject) as AnyEntity;
  const sent = withoutUndefined(data);
  const record = operation === "update" ? changedRecord(entity, existingRecord(existing), sent) : sent;
  return findIssues({
    entity,
    checks: entity.validators.filter(({ operations }) => operations.includes(operation)),
    record: Object.freeze(record),
    operation,
    user,
    log: safeLogger(getLogger()),
    mayName: (field) => Object.hasOwn(sent, field) || isOpen(entity, field),
  });
}

/** The existing record. It is required, because otherwise a partial record would be validated as a complete one. */
function existingRecord(existing: object | null | undefined): Row {
  if (existing !== null && existing !== undefined) return existing as Row;
  throw new ConfigurationError("validateCrossFields needs { existing } for an update: the record as it is stored");
}

/** Whether all callers may know of a field, because they may read or write it. */
function isOpen(entity: AnyEntity, name: string): boolean {
  const { readable, writable } = baseMask(entity);
  const field = Object.hasOwn(entity.fields, name) ? entity.fields[name] : undefined;
  return (readable.has(name) && field?.readable === undefined) || (writable.has(name) && field?.writable === undefined);
}

/** Removes undefined properties: code that passes them does not mean to set them. */
function withoutUndefined(data: object): Row {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}

function isList(subject: readonly CrossFieldCheck[] | EntityLike): subject is readonly CrossFieldCheck[] {
  return Array.isArray(subject);
}

interface Check {
  readonly entity: AnyEntity | undefined;
  readonly checks: readonly CrossFieldCheck[];
  /** The frozen record. */
  readonly record: Row;
  /** @default the validator's own operation; "create" if it has both */
  readonly operation?: CrossFieldContext["operation"];
  readonly user: unknown;
  readonly log: Logger;
  /** Whether an issue may name a field. @default always */
  readonly mayName?: (field: string) => boolean;
}

/**
 * Returns an issue for each validator that does not return strictly `true`, with the first of its fields if it may be
 * named.
 */
async function findIssues({
  checks,
  record,
  operation,
  user,
  mayName,
  ...reported
}: Check): Promise<ValidationIssue[]> {
  const issues: ValidationIssue[] = [];
  for (const check of checks) {
    const context = { operation: operation ?? check.operations?.[0] ?? "create", user };
    if (await passesCrossField(check, record, context, reported)) continue;
    const [field] = check.fields ?? [];
    const path = field !== undefined && (mayName === undefined || mayName(field)) ? [field] : [];
    issues.push({ path, code: "custom", message: check.message });
  }
  return issues;
}

/**
 * Whether a record passes a validator: strictly `true`, directly or as a promise. A validator that throws fails, and is
 * logged.
 */
async function passesCrossField(
  { test, message }: CrossFieldCheck,
  record: Row,
  context: CrossFieldContext,
  { log, entity }: Pick<Check, "log" | "entity">,
): Promise<boolean> {
  try {
    return (await test(record as never, context)) === true;
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    log.warn("A validator threw, which counts as failed", {
      entity: entity?.name,
      operation: context.operation,
      validator: message,
      error: name,
    });
    return false;
  }
}

/**
 * The stored record with its changes, as validators see it. Omitted fields are copied by name, because spreading leaves
 * them out. Stored passwords are left out, because validators have no use for hashes.
 */
function changedRecord(entity: AnyEntity, existing: Readonly<Row>, changes: Readonly<Row>): Row {
  const record: Row = { ...existing };
  for (const name of entity.hidden) if (existing[name] !== undefined) record[name] = existing[name];
  for (const [name, { password }] of Object.entries(entity.fields)) if (password) delete record[name];
  return Object.assign(record, changes);
}
