import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import {
  and,
  type Compare,
  type Condition,
  compare,
  type Driver,
  type Execute,
  type Find,
  type Insert,
  type JoinedFind,
  type Middleware,
  mapCondition,
  type Row,
  soleId,
  type Update,
  type Written,
  withMiddleware,
} from "../../../gate/index.ts";
import { BadRequestError, ConflictError, DatabaseError } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import { encrypt } from "../encryption/cipher.ts";
import { PROTECTED } from "../encryption/protected-driver.ts";
import { type EncryptedColumn, type EncryptionPlan, suits } from "./encryption-plan.ts";
import { openRows } from "./open-rows.ts";

/**
 * A driver that stores encrypted fields as ciphertext and returns them decrypted, for all its users: operations,
 * handlers, rules and workflow steps (spec 2.4 rule 7). Statements about entities without such fields pass unchanged.
 */
export function encryptingDriver(inner: Driver, plan: EncryptionPlan): Driver {
  const middleware: Middleware = async (statement, next, driver) => {
    switch (statement.kind) {
      case "find":
        return find(plan, statement, next);
      case "insert":
        return insert(plan, statement, next);
      case "update":
        return update(plan, { ...statement, where: storedWhere(plan, statement.entity, statement.where) }, driver);
      case "count":
      case "aggregate":
      case "delete":
        return next({ ...statement, where: storedWhere(plan, statement.entity, statement.where) });
      case "pairs":
        return next({ ...statement, where: storedWhere(plan, statement.relation.target, statement.where) });
      default:
        return next(statement);
    }
  };
  return withMiddleware(inner, middleware, { joins: true, capabilities: PROTECTED });
}

async function find(plan: EncryptionPlan, statement: Find, next: Execute): Promise<Row[]> {
  const { entity, select } = statement;
  const searched = new Set<string>();
  const where = storedWhere(plan, entity, statement.where, searched);
  const fetched = withCompanions(plan.columnsOf(entity), select, searched);
  const joins = statement.joins?.map((join) => storedJoin(plan, join));
  const sort = statement.sort?.map((key) =>
    key.through === undefined ? key : { ...key, through: key.through.map((join) => storedJoin(plan, join)) },
  );
  const rows = await next({ ...statement, where, sort, select: fetched.select, joins });
  openRows(plan, entity, rows, searched);
  for (const row of rows) for (const name of fetched.extra) delete row[name];
  for (const { relation, searched: keys } of joins ?? []) {
    const related = rows.flatMap((row): Row[] => (row[relation.name] ? [row[relation.name] as Row] : []));
    openRows(plan, relation.target, related, keys);
  }
  return rows;
}

/** A join with its stored condition, and the encrypted columns by which its records are searched. */
function storedJoin(plan: EncryptionPlan, { relation, where }: JoinedFind): JoinedFind & { searched: Set<string> } {
  const searched = new Set<string>();
  return { relation, searched, where: storedWhere(plan, relation.target, where, searched) };
}

async function insert(plan: EncryptionPlan, statement: Insert, next: Execute): Promise<Written> {
  const { entity, rows } = statement;
  const where = statement.where && storedWhere(plan, entity, statement.where);
  if (plan.columnsOf(entity) === undefined) return next({ ...statement, where });
  const stored = rows.map((row) => storedRow(plan, entity, row, row.id as string));
  const written = await named(plan, entity, () => next({ ...statement, rows: stored, where }));
  openRows(plan, entity, written.rows);
  return written;
}

async function update(plan: EncryptionPlan, statement: Update, driver: Driver): Promise<Written> {
  const { entity, where, data } = statement;
  const columns = plan.columnsOf(entity);
  if (columns === undefined) return driver.execute(statement);
  const id = soleId(where);
  const isTouched = columns.some(({ name }) => data[name] !== undefined);
  if (isTouched && id === undefined) return named(plan, entity, () => updateEach(plan, statement, driver));
  const stored = isTouched ? storedRow(plan, entity, data, id as string) : data;
  const written = await named(plan, entity, () => driver.execute({ ...statement, data: stored }));
  openRows(plan, entity, written.rows);
  return written;
}

/** Updates records one by one in a transaction, because every record has its own ciphertext. */
function updateEach(plan: EncryptionPlan, statement: Update, inner: Driver): Promise<Written> {
  const { entity, where, data } = statement;
  return inner.transaction(async ({ execute }) => {
    let count = 0;
    for (const { id } of await execute({ kind: "find", entity, where, select: ["id"] })) {
      const one = and([compare(entity.columns.id as ColumnDefinition, "eq", id), where]);
      count += (await execute({ ...statement, where: one, data: storedRow(plan, entity, data, id as string) })).count;
    }
    return { count, rows: [] };
  });
}

/** Replaces the private blind index columns in conflicts with the names of their fields. */
async function named<T>(plan: EncryptionPlan, entity: AnyEntity, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const columns = plan.columnsOf(entity);
    const fields = error.fields.map((name) => columns?.find(({ index }) => index === name)?.name ?? name);
    throw new ConflictError(error.message, { fields, code: error.code, cause: error });
  }
}

/**
 * Adds the columns that decryption needs to the selected ones: the id, to which values may be bound, and the blind
 * index of a value. A value by which rows were searched is always decrypted.
 * @returns all columns to read, and those of them that the caller did not select
 */
function withCompanions(
  columns: readonly EncryptedColumn[] = [],
  select: readonly string[] | undefined,
  searched: ReadonlySet<string>,
): { readonly select: readonly string[] | undefined; readonly extra: readonly string[] } {
  if (select === undefined || columns.length === 0) return { select, extra: [] };
  const all = new Set([...select, "id"]);
  for (const { name, index } of columns)
    if (index !== undefined && (all.has(name) || searched.has(name))) all.add(name).add(index);
  return { select: [...all], extra: [...all].filter((name) => !select.includes(name)) };
}

/**
 * The stored form of a row: encrypted fields as ciphertext of this record, with their blind indexes.
 * @param id of the record, which binding keys need
 * @throws DatabaseError for values that do not have the type of their field, as for any column
 */
function storedRow(plan: EncryptionPlan, { name: entity }: AnyEntity, row: Row, id: string): Row {
  const stored = { ...row };
  for (const column of plan.columnsOf(entity) ?? []) {
    const { name, index } = column;
    const value = row[name];
    if (value === undefined) continue;
    if (value !== null && !suits(column, value)) throw new DatabaseError(`${entity}.${name} cannot hold this value`);
    stored[name] = value === null ? null : encrypt(plan.ring, value, { entity, field: name, id });
    if (index !== undefined)
      stored[index] = value === null ? null : blindIndex(plan.ring, { entity, field: name }, value as string);
  }
  return stored;
}

/**
 * The stored form of a condition: comparisons with values of encrypted fields become comparisons with their blind
 * indexes. Comparisons with null use the field's own column.
 * @param searched receives the names of the encrypted columns of the entity that the condition compares with a value
 * @throws BadRequestError for a comparison with an encrypted field that is not searchable
 */
function storedWhere(plan: EncryptionPlan, entity: AnyEntity, where: Condition, searched?: Set<string>): Condition {
  if (!plan.reaches(entity)) return where;
  if (searched !== undefined) collectSearched(plan, entity, where, searched);
  return mapCondition(where, (leaf, inside) =>
    leaf.op === "compare" ? storedComparison(plan, inside?.target ?? entity, leaf) : leaf,
  );
}

function storedComparison(plan: EncryptionPlan, entity: AnyEntity, comparison: Compare): Condition {
  const { column, test, value } = comparison;
  const encrypted = plan.columnsOf(entity)?.find(({ name }) => name === column.name);
  if (encrypted === undefined || value === null) return comparison;
  const { name, index } = encrypted;
  if (index === undefined)
    throw new BadRequestError(
      `where on ${entity.name}: "${name}" is encrypted; only .encrypted({ searchable: true }) can be compared`,
    );
  const digest = (one: unknown): string => blindIndex(plan.ring, { entity: entity.name, field: name }, one as string);
  const stored = test === "in" ? (value as readonly unknown[]).map(digest) : digest(value);
  return compare(entity.columns[index] as ColumnDefinition, test, stored);
}

/** Collects the encrypted columns of the entity that a condition compares with a value. */
function collectSearched(plan: EncryptionPlan, entity: AnyEntity, condition: Condition, searched: Set<string>): void {
  if (condition.op === "and" || condition.op === "or")
    for (const part of condition.of) collectSearched(plan, entity, part, searched);
  else if (condition.op === "compare" && condition.value !== null) {
    const { name } = condition.column;
    if (plan.columnsOf(entity)?.some((column) => column.name === name)) searched.add(name);
  }
}
