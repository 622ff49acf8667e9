import { type AnyEntity, type ColumnDefinition, changedText, isKeelsonError } from "../../entity/index.ts";
import {
  BadRequestError,
  ConflictError,
  EntityNotFoundError,
  RecordChangedError,
  ValidationFailedError,
} from "../../kernel/index.ts";
import type { Where } from "../condition/condition.ts";
import type { Operation, OperationQuery } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { plainScope } from "../record/noting-scope.ts";

/**
 * Maximum number of attempts while other transactions create and delete the record between the search and the write.
 */
const ATTEMPTS = 3;

/** The data of an upsert, and the fields that identify its record. */
export interface UpsertInput {
  /** A unique field, or the fields of a unique combination; their values are in the data. */
  readonly on: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
  readonly query?: OperationQuery | undefined;
  /**
   * Called before each attempt, to check the request's preconditions.
   * @param id the id of the record that has the key; undefined if it will be created
   */
  readonly expect?: ((id: string | undefined) => void) | undefined;
}

/**
 * Updates the record with the given values of a unique key, or creates it if the caller can see no such record. The
 * rules of the operation that runs apply.
 * @param input if a function, it is called after authorization, so that the input of a refused caller is never read
 * @throws BadRequestError for fields that are not unique together, or that the caller may not read; ConflictError when
 *   a record that the caller may not read has the key
 */
export async function upsert(
  scope: OperationScope,
  entity: AnyEntity,
  input: UpsertInput | (() => Promise<UpsertInput>),
): Promise<Operation> {
  await assertMayWrite(scope, entity);
  const { on, data, query, expect } = typeof input === "function" ? await input() : input;
  for (let attempt = 1; ; attempt++) {
    const found = await findByKey(plainScope(scope), entity, on, data); // the record found is changed, which notes it
    expect?.(found?.id);
    try {
      if (found === undefined) return await scope.run({ kind: "create", entity, data, query });
      const updated = await scope.run({ kind: "update", entity, id: found.id, data, query, when: found.where });
      if (updated.applied) return updated;
      throw new RecordChangedError(); // it has another key by now
    } catch (error) {
      const isOvertaken =
        found === undefined
          ? isAbout(error, on)
          : error instanceof EntityNotFoundError || error instanceof RecordChangedError;
      // In a transaction, the failed statement may have aborted it.
      if (!isOvertaken || attempt === ATTEMPTS || scope.isTransaction) throw error;
    }
  }
}

/**
 * Finds the record with the given values of a unique key, if the caller may list it; the condition is what it must
 * still meet when it is used.
 * @param on a unique field, or the fields of a unique combination
 * @throws BadRequestError for fields that are not unique together, or that the caller may not read;
 *   ValidationFailedError for a key without a value
 */
export async function findByKey(
  scope: OperationScope,
  entity: AnyEntity,
  on: readonly string[],
  data: Readonly<Record<string, unknown>>,
): Promise<{ readonly id: string; readonly where: Where } | undefined> {
  const where = whereOf(entity, keyOf(scope, entity, on), data);
  const { records } = await scope.run({ kind: "list", entity, query: { where, select: ["id"], limit: 1 } });
  return records[0] && { id: records[0].id as string, where };
}

/** @throws AuthenticationError, AuthorizationError for a caller who may neither change nor create any record */
async function assertMayWrite({ access, principal }: OperationScope, entity: AnyEntity): Promise<void> {
  if (principal.kind === "system") return;
  try {
    await access.decide({ kind: "update", entity, ids: [] });
  } catch (error) {
    if (!isKeelsonError(error) || error.status >= 500) throw error;
    await access.decide({ kind: "create", entity });
  }
}

/** Whether an error is a conflict on this key. */
function isAbout(error: unknown, on: readonly string[]): boolean {
  return error instanceof ConflictError && on.some((name) => error.fields.includes(name));
}

function keyOf(scope: OperationScope, entity: AnyEntity, on: readonly string[]): readonly ColumnDefinition[] {
  const { filterable, readable, readablePerRow } = scope.access.mask(entity);
  const isSystem = scope.principal.kind === "system";
  const columns = on.map((name) => (Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined));
  const isKnown = on.every(
    (name) => isSystem || (filterable.has(name) && readable.has(name) && readablePerRow?.has(name) !== true),
  );
  const isOne =
    on.length === 1 && (columns[0]?.field?.unique === true || (on[0] === "id" && entity.idsFrom === "caller"));
  const isUnique =
    isOne || entity.uniques.some((names) => names.length === on.length && names.every((name) => on.includes(name)));
  if (!isKnown || !isUnique || columns.includes(undefined))
    throw new BadRequestError(
      `${entity.name} has no unique field, and no unique combination of fields, "${on.join(",")}"`,
    );
  return columns as readonly ColumnDefinition[];
}

/** @throws ValidationFailedError for a key without a value */
function whereOf(entity: AnyEntity, key: readonly ColumnDefinition[], data: UpsertInput["data"]): Where {
  const where: Record<string, unknown> = {};
  for (const column of key) {
    const value = data[column.name];
    if (value === undefined || value === null)
      throw new ValidationFailedError({ [column.name]: `is needed: it finds the ${entity.name}` });
    where[column.name] = { eq: keyValue(column, value) };
  }
  return where;
}

/**
 * Converts a key value to its stored form, so that an upsert finds the record it created.
 * @throws ValidationFailedError for a value that the column cannot have
 */
export function keyValue({ name, kind, field }: ColumnDefinition, given: unknown): unknown {
  const value = typeof given === "string" && field !== undefined ? changedText(field, given) : given;
  if (kind.accepts(value)) return value;
  const read = typeof value === "string" ? kind.parse(value) : kind.convert?.(value);
  if (read?.ok !== true)
    throw new ValidationFailedError({ [name]: read?.message ?? `must be a value of ${kind.name}` });
  return read.value;
}
