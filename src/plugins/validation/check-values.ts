import {
  type ColumnDefinition,
  type FieldDefinition,
  type FieldValidator,
  isObject,
  newDefault,
  plainField,
} from "../../entity/index.ts";
import type { FieldChecks, FieldReader, Operation } from "../../gate/index.ts";
import {
  BadRequestError,
  isPromiseLike,
  nearest,
  readParameters,
  shownName,
  ValidationFailedError,
  type ValidationIssue,
} from "../../kernel/index.ts";

/** Checks a value and returns its stored form. Adds problems to the list. */
type ValueCheck = (value: unknown, issues: ValidationIssue[]) => unknown;

/** A column that input may set. */
export interface InputColumn {
  readonly name: string;
  readonly optional: boolean;
  readonly check: ValueCheck;
  /** Whether the database provides a value for records that are created without one. */
  readonly isFilled: boolean;
  /** Makes the value for creates without the column; undefined without a default. */
  readonly makeDefault: (() => unknown) | undefined;
}

/** The checked columns of an entity. */
export interface CheckedColumns {
  /** Columns that a stored record must have, in order. */
  readonly columns: readonly InputColumn[];
  /** The same columns by name, and those that only the system sets. */
  readonly byName: ReadonlyMap<string, InputColumn>;
}

/**
 * Checks all values and replaces them with their stored form. A create becomes a complete record, with defaults and
 * nulls. An update stays a set of changes.
 * @throws ValidationFailedError naming every problem
 */
export function checkValues({ columns, byName }: CheckedColumns, operation: Operation): void {
  const issues: ValidationIssue[] = [];
  if (operation.kind === "create") complete(columns, operation.data, issues);
  checkGiven(byName, operation.data, issues);
  if (issues.length > 0) throw new ValidationFailedError(issues.map((issue) => withoutHiddenName(issue, operation)));
}

/** Hides the name of a missing required field that the caller may neither read nor write. */
function withoutHiddenName(issue: ValidationIssue, { entity, principal, scope }: Operation): ValidationIssue {
  const name = String(issue.path[0]);
  const { readable, writable } = scope.access.mask(entity);
  if (principal.kind === "system" || readable.has(name) || writable.has(name)) return issue;
  return { path: [], code: issue.code, message: "a required value is missing that you may not set" };
}

/** Checks values by column name and completes them with defaults and nulls. Adds problems to the list. */
function checkComplete(
  columns: ReadonlyMap<string, InputColumn>,
  data: Record<string, unknown>,
  issues: ValidationIssue[],
): void {
  complete(columns.values(), data, issues);
  checkGiven(columns, data, issues);
}

const REQUIRED = { code: "required", message: "is required" } as const;

function complete(columns: Iterable<InputColumn>, data: Record<string, unknown>, issues: ValidationIssue[]): void {
  for (const { name, optional, isFilled, makeDefault } of columns) {
    if (data[name] !== undefined || isFilled) continue;
    const value = makeDefault?.();
    if (value !== undefined && value !== null) data[name] = value;
    else if (optional) data[name] = null;
    else issues.push({ path: [name], ...REQUIRED });
  }
}

function checkGiven(
  byName: ReadonlyMap<string, InputColumn>,
  data: Record<string, unknown>,
  issues: ValidationIssue[],
): void {
  for (const name of Object.keys(data)) {
    const column = byName.get(name);
    if (column === undefined) continue; // links, and values that other plugins added
    const value = data[name];
    if (value !== null) data[name] = column.check(value, issues);
    else if (!column.optional) issues.push({ path: [name], ...REQUIRED });
  }
}

/** Compiles the check of a column. Its schema is built here, once. */
export function compileColumn(column: ColumnDefinition): InputColumn {
  const { name, optional, field } = column;
  const makeDefault = field?.default === undefined ? undefined : () => newDefault(field);
  const isFilled = field?.filledBy !== undefined;
  return Object.freeze({ name, optional, isFilled, check: compileCheck(column), makeDefault });
}

function compileCheck({ name, kind, field, role }: ColumnDefinition): ValueCheck {
  const isId = role === "id" || role === "foreignKey";
  const plain = isId ? { ...plainField(kind), min: { value: 1, message: "must not be empty" } } : plainField(kind);
  const schema = kind.schema(field ?? plain);
  const validators = field?.validators ?? [];
  return (value, issues) => {
    const result = schema.safeParse(value);
    if (!result.success) {
      for (const { path, code, message, params } of result.error.issues as readonly SchemaIssue[])
        issues.push({
          path: [name, ...(path as (string | number)[])],
          code: params?.code ?? code ?? "custom",
          message,
        });
      return undefined;
    }
    for (const validator of validators)
      if (!passes(validator, result.data)) issues.push({ path: [name], code: "custom", message: validator.message });
    return result.data;
  };
}

/** The used part of a zod issue. Keelson's own checks set `params.code`. */
interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  readonly code: string | undefined;
  readonly message: string;
  readonly params?: { readonly code?: string | undefined } | undefined;
}

/** Only strictly `true` passes. A validator that throws or returns a promise fails (spec section 2.3). */
function passes(validator: FieldValidator, value: unknown): boolean {
  try {
    const answer = validator.test(value as never);
    if (isPromiseLike(answer)) answer.then(undefined, () => {}); // an unhandled rejection would end the process
    return answer === true;
  } catch {
    return false;
  }
}

/** The most unknown keys that are reported for one body. */
export const MAX_UNKNOWN = 20;

/** The service with which other plugins check values. */
export const fieldChecks: FieldChecks = Object.freeze({ compile: compileFields });

function compileFields(fields: Readonly<Record<string, FieldDefinition>>): FieldReader {
  const columns = new Map<string, InputColumn>(
    Object.entries(fields).map(([name, field]) => {
      const { kind, optional, unique } = field;
      return [name, compileColumn({ name, stored: name, kind, role: "field", optional, unique, field })];
    }),
  );
  return Object.freeze<FieldReader>({
    fromObject(value) {
      if (!isObject(value)) throw new BadRequestError("The body must be one JSON object");
      const issues: ValidationIssue[] = [];
      const values: Record<string, unknown> = {};
      for (const [name, given] of Object.entries(value)) {
        if (columns.has(name)) values[name] = given;
        else if (issues.length < MAX_UNKNOWN)
          issues.push(issueAt(name, unknownName(name, columns), "unrecognized_keys"));
      }
      checkComplete(columns, values, issues);
      if (issues.length > 0) throw new ValidationFailedError(issues);
      return values;
    },
    fromQuery(search, limit) {
      const values: Record<string, unknown> = {};
      const issues: ValidationIssue[] = [];
      for (const [name, texts] of readParameters(search, limit)) {
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (name === "_") continue; // a cache buster
        const [text] = texts;
        if (field === undefined) {
          if (issues.length < MAX_UNKNOWN) issues.push(issueAt(name, unknownName(name, columns)));
        } else if (texts.length > 1) issues.push(issueAt(name, "is given more than once"));
        else if (text !== undefined) {
          const read = field.kind.parse(text);
          if (read.ok) values[name] = read.value;
          else issues.push(issueAt(name, read.message));
        }
      }
      if (issues.length === 0) checkComplete(columns, values, issues);
      if (issues.length === 0) return values;
      const sentences = issues.map(({ path, message }) => `"${path[0]}" ${message}${message.endsWith("?") ? "" : "."}`);
      throw new BadRequestError(sentences.join(" "));
    },
  });
}

function issueAt(name: string, message: string, code = "custom"): ValidationIssue {
  return { path: [shownName(name)], code, message };
}

function unknownName(name: string, columns: ReadonlyMap<string, unknown>): string {
  const near = nearest(name, columns.keys());
  return `is not known here${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
