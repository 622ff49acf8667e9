import { type AnyEntity, type EntityModel, isKeelsonError } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import {
  BadRequestError,
  ConflictError,
  DatabaseError,
  DatabaseUnavailableError,
  ReferencedError,
  ValidationFailedError,
} from "../../../kernel/index.ts";
import { constraintName, liveUniqueName, printedUniqueKeys } from "../tables/unique-keys.ts";
import {
  CHECK_FAILED,
  type Constraint,
  constraintOf,
  isTooDeep,
  isTransactionStartTimeout,
  PrismaFailure,
  type Subject,
} from "./prisma-failure.ts";

/** Prisma's codes of a broken reference. */
const BROKEN_REFERENCE = new Set(["P2003", "P2014"]);

/**
 * Converts a Prisma error into a Keelson error that contains no message, argument or SQL of the original.
 * @param statement the failed statement; its `operation` decides the meaning of a broken reference
 */
export function toKeelsonError(error: unknown, statement: Subject, model?: EntityModel): Error {
  if (isKeelsonError(error)) return error;
  const cause = new PrismaFailure(error, statement);
  const entity = statement.model === undefined ? undefined : model?.get(statement.model);
  const { code, sqlState } = cause;
  if (code === "P2002") {
    const fields = model && entity ? uniqueColumns(model, entity, constraintOf(error)) : [];
    return new ConflictError(undefined, { fields, cause });
  }
  // A check of a referring record may refuse what its deletion would change there.
  if (statement.operation === "delete" && (BROKEN_REFERENCE.has(code) || code === CHECK_FAILED))
    return new ReferencedError(undefined, { cause });
  if (BROKEN_REFERENCE.has(code))
    return danglingReference(entity ? foreignKeys(entity, constraintOf(error)) : [], cause);
  if (code === CHECK_FAILED)
    return new ValidationFailedError({ _: "the database does not accept these values" }, undefined, { cause });
  if (sqlState === "54000")
    return new ValidationFailedError({ _: "a value is too long for its index" }, undefined, { cause });
  // Columns of existing tables may have a smaller range than their kind: smallint, real.
  if (sqlState === "22003") return new BadRequestError("A number is out of the range of its column", { cause });
  if (isTooDeep(error)) return new BadRequestError("The conditions are nested too deeply for the database", { cause });
  // Each database has its own list of time zones.
  if (sqlState === "22023" && statement.operation === "aggregate")
    return new BadRequestError("The database does not know the time zone", { cause });
  if (code === "P2034") return new ConflictError("Others are changing the same records; try again", { cause });
  if (isUnavailable(code, sqlState) || isTransactionStartTimeout(error))
    return new DatabaseUnavailableError(undefined, { cause });
  if (code === "P2028") return new DatabaseError("The transaction is over", { cause });
  if (code === "P2021" || code === "P2022")
    return new DatabaseError(`The tables do not fit the definition of ${statement.model ?? "an entity"}`, { cause });
  return new DatabaseError(undefined, { cause });
}

/** Errors of a database that is unavailable, or temporarily read-only: Prisma's codes, Node's, SQLSTATEs. */
const UNAVAILABLE = new Set(
  "P1001 P1002 P1008 P1017 P2024 P2037 STALE_PLAN NO_CONNECTION ECONNREFUSED ECONNRESET ETIMEDOUT ENOTFOUND EHOSTUNREACH EPIPE EAI_AGAIN NO_WRITES 25006 25P03 57014 57P01 57P02 57P03".split(
    " ",
  ),
);
/** Connection exceptions and exhausted resources. */
const UNAVAILABLE_CLASS = /^(08|53)/;

function isUnavailable(code: string, sqlState = ""): boolean {
  return UNAVAILABLE.has(code) || UNAVAILABLE.has(sqlState) || UNAVAILABLE_CLASS.test(sqlState);
}

/** The database failure that caused a Keelson error, if any. */
export function failureBehind(error: unknown): PrismaFailure | undefined {
  if (error instanceof PrismaFailure) return error;
  return isKeelsonError(error) ? failureBehind(error.cause) : undefined;
}

/** The error for a reference to a record that does not exist. */
export function danglingReference(names: readonly string[], cause?: unknown): ValidationFailedError {
  const errors = Object.fromEntries(names.map((name) => [name, "must refer to an existing record"]));
  return new ValidationFailedError(names.length === 0 ? { _: "a reference leads to no record" } : errors, undefined, {
    cause,
  });
}

/**
 * Strips quotes and the table from an index name, as some databases report it: `"post_slug_key"`, `post.post_slug_key`.
 */
function bareName(index: string): string {
  return index.replace(/"/g, "").split(".").at(-1) as string;
}

/** The columns of a unique constraint; empty when the constraint was not made by Keelson. */
function uniqueColumns(model: EntityModel, entity: AnyEntity, { fields, index }: Constraint): readonly string[] {
  if (fields !== undefined)
    return Object.values(entity.columns)
      .filter(({ stored }) => fields.includes(stored))
      .map(({ name: field }) => field);
  if (index === undefined) return [];
  const name = bareName(index);
  if (name === `${entity.name}_pkey` || name === "PRIMARY") return ["id"];
  const isNamedAfter = (columns: readonly string[]): boolean =>
    name === constraintName(entity, columns, "_key") || name === liveUniqueName(entity, columns);
  return printedUniqueKeys(model, entity).find(isNamedAfter) ?? [];
}

/** The column of a foreign key constraint; undefined when it is unknown. */
function foreignKeys(entity: AnyEntity, { fields, index }: Constraint): readonly string[] {
  const found = Object.values(entity.columns).find(
    ({ name, stored, role }) =>
      role === "foreignKey" &&
      (fields?.includes(stored) ||
        (index !== undefined && constraintName(entity, [name], "_fkey") === bareName(index))),
  );
  return found === undefined ? [] : [found.name];
}

/** Written rows, and a function that looks up the records they refer to. */
interface WrittenRows {
  readonly model: EntityModel;
  readonly entity: AnyEntity;
  readonly rows: readonly (Row | ReadonlyMap<string, unknown>)[];
  /** Whether a failure ends the transaction, so that nothing can be looked up. */
  readonly isAborted: boolean;
  /** Counts the records with these ids. */
  count(target: AnyEntity, ids: readonly unknown[]): Promise<number>;
}

/** Adds the dangling references to an error by looking up the records, since SQLite does not report them. */
export async function namingDangling<T>(written: WrittenRows, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (written.isAborted || !(isDangling(error) && "_" in error.errors)) throw error;
    throw danglingReference(await danglingKeys(written), error.cause);
  }
}

/** Whether a write failed since it refers to a record that does not exist. */
export function isDangling(error: unknown): error is ValidationFailedError {
  return error instanceof ValidationFailedError && BROKEN_REFERENCE.has(failureBehind(error)?.code ?? "");
}

async function danglingKeys({ model, entity, rows, count }: WrittenRows): Promise<string[]> {
  const dangling: string[] = [];
  for (const { type, remote, target, foreignKey } of model.relationsOf(entity)) {
    if (type !== "belongsTo" || remote !== undefined) continue;
    const key = foreignKey as string;
    const keys = new Set(rows.map((row) => (row instanceof Map ? row.get(key) : (row as Row)[key]) ?? null));
    const ids = [...keys].filter((id) => id !== null);
    if (ids.length > 0 && (await count(target, ids)) < ids.length) dangling.push(key);
  }
  return dangling;
}
