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
 * Runs predicates over the whole record: on create over what will be stored, on update over the stored record with the
 * changes in it. Stored columns that a predicate looked at must still be so when the statement runs; of two updates that
 * would break a rule together, the second is validated again. The record they see cannot be changed.
 * @throws ValidationFailedError with one issue per predicate that is not strictly true
 */

export async function checkCrossFields(
  validators: readonly CrossFieldValidator[],
  operation: Operation,
): Promise<void> {
  const { entity, data, kind, principal, scope } = operation;
  const existing = kind === "update" ? await storedRecord(operation) : {};
  if (existing === null) return; // there is nothing this caller may change; the statement says so
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

/** A predicate over a record: those of entities (`post.validators`), or one written down on the spot. */
export type CrossFieldCheck = Pick<CrossFieldValidator, "test" | "message"> &
  Partial<Pick<CrossFieldValidator, "fields" | "operations">>;

/** What the validators of an entity are told. */
export interface CrossFieldsOptions {
  /** The record as it is stored; needed for an update. */
  readonly existing?: object | null | undefined;
  /** Who writes. @default null */
  readonly user?: unknown;
}

/**
 * Checks a record by predicates over several fields. `(data, validators)` asks all of them about the record as it is
 * given; `(data, entity, operation, options)` asks those of an entity that are for the operation, on update about
 * `existing` with the data in it.
 *
 * The answer is a list of issues, empty when all is well. A predicate passes when it returns strictly `true`, at once or
 * as a promise; one that throws, or changes the record, has failed. An issue stands at the first of the validator's
 * `fields`; of an entity's fields only where everybody may know of it, or the data mentions it. Specification section 1.1.
 *
 * @throws ConfigurationError for an update without `existing`, and for data that is no record
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

/** Half a record would be judged as a whole one. */
function existingRecord(existing: object | null | undefined): Row {
  if (existing !== null && existing !== undefined) return existing as Row;
  throw new ConfigurationError("validateCrossFields needs { existing } for an update: the record as it is stored");
}

/** Whether everybody may know of a field, because everybody may read it, or write it. */
function isOpen(entity: AnyEntity, name: string): boolean {
  const { readable, writable } = baseMask(entity);
  const field = Object.hasOwn(entity.fields, name) ? entity.fields[name] : undefined;
  return (readable.has(name) && field?.readable === undefined) || (writable.has(name) && field?.writable === undefined);
}

/** Code that passes a property without a value means nothing by it. */
function withoutUndefined(data: object): Row {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}

function isList(subject: readonly CrossFieldCheck[] | EntityLike): subject is readonly CrossFieldCheck[] {
  return Array.isArray(subject);
}

interface Check {
  readonly entity: AnyEntity | undefined;
  readonly checks: readonly CrossFieldCheck[];
  /** It cannot be changed. */
  readonly record: Row;
  /** @default each validator's own, "create" where it has both */
  readonly operation?: CrossFieldContext["operation"];
  readonly user: unknown;
  readonly log: Logger;
  /** Whether an issue may stand at a field. @default at any */
  readonly mayName?: (field: string) => boolean;
}

/** An issue for each predicate that is not strictly true, at the first of its fields if that may be named. */
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

/** Whether a record passes a predicate: strictly `true`, at once or as a promise. One that throws has failed, and is logged. */
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
 * The stored record with changes in it, as validators see it. Omitted fields are taken over by name, because spreading
 * leaves them behind; stored passwords are not, because they are hashes, which no validator can mean.
 */
function changedRecord(entity: AnyEntity, existing: Readonly<Row>, changes: Readonly<Row>): Row {
  const record: Row = { ...existing };
  for (const name of entity.hidden) if (existing[name] !== undefined) record[name] = existing[name];
  for (const [name, { password }] of Object.entries(entity.fields)) if (password) delete record[name];
  return Object.assign(record, changes);
}
