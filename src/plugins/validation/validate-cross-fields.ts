import {
  type AnyEntity,
  ConfigurationError,
  type CrossFieldContext,
  type CrossFieldValidator,
  type EntityLike,
  resolveEntity,
} from "../../entity/index.ts";
import { baseMask, entityOfRecord, type Row } from "../../gate/index.ts";
import { getLogger, safeLogger, type ValidationIssue } from "../../kernel/index.ts";
import { changedRecord } from "./changed-record.ts";
import { passesCrossField } from "./passes-cross-field.ts";

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
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw new ConfigurationError("validateCrossFields takes one record");
  if (isList(subject)) {
    const entity = entityOfRecord(data);
    return findIssues({
      entity,
      checks: subject,
      record: entity ? changedRecord(entity, data as Row, {}) : { ...data },
    });
  }
  if (operation !== "create" && operation !== "update")
    throw new ConfigurationError(
      'validateCrossFields(data, entity, operation) takes the operation "create" or "update"',
    );
  const entity = resolveEntity(subject) as AnyEntity;
  const sent = withoutUndefined(data);
  return findIssues({
    entity,
    checks: entity.validators.filter(({ operations }) => operations.includes(operation)),
    record: operation === "update" ? changedRecord(entity, existingRecord(existing), sent) : sent,
    operation,
    user,
    mayName: (field) => Object.hasOwn(sent, field) || isOpen(entity, field),
  });
}

interface Check {
  readonly entity: AnyEntity | undefined;
  readonly checks: readonly CrossFieldCheck[];
  readonly record: Row;
  /** @default each validator's own, "create" where it has both */
  readonly operation?: CrossFieldContext["operation"];
  readonly user?: unknown;
  readonly mayName?: (field: string) => boolean;
}

async function findIssues({
  entity,
  checks,
  record,
  operation,
  user = null,
  mayName,
}: Check): Promise<ValidationIssue[]> {
  const reports = { log: safeLogger(getLogger()), entity: entity?.name };
  Object.freeze(record);
  const issues: ValidationIssue[] = [];
  for (const check of checks) {
    const context = { operation: operation ?? check.operations?.[0] ?? "create", user };
    if (await passesCrossField(check, record, context, reports)) continue;
    const [field] = check.fields ?? [];
    const path = field !== undefined && (mayName === undefined || mayName(field)) ? [field] : [];
    issues.push({ path, code: "custom", message: check.message });
  }
  return issues;
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
