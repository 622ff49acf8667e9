import { setImmediate as nextTurn } from "node:timers/promises";
import { type AnyEntity, isKeelsonError } from "../../../entity/index.ts";
import { type Driver, findsRecord, inTurn, type OperationScope, type Where } from "../../../gate/index.ts";
import { ConflictError, type FieldErrors, InternalError, ValidationFailedError } from "../../../kernel/index.ts";
import { type CollectedWrites, collectCreates } from "./collect-creates.ts";
import type { GivenRow } from "./given-row.ts";
import { Owners, TAKEN_BACK, type UniqueKey, type UniqueKeys } from "./unique-values.ts";

/** One run of an import. */
export interface ImportJob {
  readonly scope: OperationScope;
  readonly entity: AnyEntity;
  /** Rules that replace the entity's. */
  readonly rules: readonly string[] | undefined;
  /** The most rows of one transaction. */
  readonly batch: number;
  /** Fields that identify the record that a row changes; undefined when all rows are new. */
  readonly upsertBy: UniqueKey | undefined;
  readonly dryRun: boolean;
  readonly unique: UniqueKeys;
  /** Unique values of records that a dry run has rolled back, one text each. */
  readonly takenBack: Set<string>;
}

/** The outcome of one row. */
export interface RowOutcome {
  readonly kind: "created" | "updated" | "failed";
  readonly errors?: FieldErrors | undefined;
  /** Fields that the caller may not write and that were left out. */
  readonly ignored?: readonly string[] | undefined;
}

/** Milliseconds after which a transaction takes no more rows. Hashing one password takes most of a second. */
const LONG_MS = 2_000;
/** Rows after which other work gets a turn. */
const STRETCH = 50;
/** Tries of a batch: concurrent writers may take its unique values. After the last try, rows are stored one by one. */
const ATTEMPTS = 3;

/** Ends a transaction that must not be committed. Never leaves this file. */
class TakenBack extends InternalError {}

/**
 * Stores the first rows of a batch in one transaction: all of them, unless that takes long.
 * @returns the outcomes of these rows, in order
 * @throws any error that is not about a row
 */
export async function importBatch(job: ImportJob, rows: readonly GivenRow[]): Promise<readonly RowOutcome[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptBatch(job, rows);
    } catch (error) {
      if (rowErrors(error) === undefined) throw error;
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) return await oneByOne(job, rows);
    }
  }
}

async function oneByOne(job: ImportJob, rows: readonly GivenRow[]): Promise<readonly RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for (const row of rows) {
    try {
      outcomes.push(...(await attemptBatch(job, [row])));
    } catch (error) {
      const errors = rowErrors(error, row.data);
      if (errors === undefined) throw error;
      outcomes.push({ kind: "failed", errors });
    }
  }
  return outcomes;
}

async function attemptBatch(job: ImportJob, rows: readonly GivenRow[]): Promise<readonly RowOutcome[]> {
  const { entity, unique, takenBack } = job;
  const { model } = job.scope.app;
  let writes: CollectedWrites | undefined;
  let outcomes: RowOutcome[] = [];
  try {
    const store = async (scope: OperationScope): Promise<void> => {
      if (writes === undefined) throw new InternalError("An import has transactions of its own; run it outside of one");
      outcomes = await storeRows(job, scope, writes, rows);
      if (job.dryRun) throw new TakenBack();
    };
    const around = (driver: Driver): Driver => {
      const owners = new Owners(driver, entity, unique, takenBack);
      writes = collectCreates(driver, { model, entity, owners });
      return writes.driver;
    };
    await inTurn(job.scope)(() => job.scope.transaction(store, { around }));
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error;
    for (const text of writes?.owners.added ?? []) takenBack.add(text);
  }
  return outcomes;
}

async function storeRows(
  job: ImportJob,
  scope: OperationScope,
  writes: CollectedWrites,
  rows: readonly GivenRow[],
): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  const end = performance.now() + LONG_MS;
  await writes.owners.learn(rows.map(({ data }) => data));
  for (const row of rows) {
    outcomes.push(await importRow(job, scope, writes, row));
    if (writes.failure !== undefined) throw writes.failure;
    if (performance.now() > end) break;
    if (outcomes.length % STRETCH === 0) await nextTurn();
  }
  await writes.flush();
  return outcomes;
}

/**
 * Stores one row through the gate.
 * @throws any error that is not about the row, and errors about a row that is partly stored: the transaction must then
 * be rolled back
 */
async function importRow(
  job: ImportJob,
  scope: OperationScope,
  writes: CollectedWrites,
  { data, errors }: GivenRow,
): Promise<RowOutcome> {
  if (errors !== undefined) return { kind: "failed", errors };
  const before = writes.changes;
  try {
    const found = await existing(job, writes, data);
    if (found?.id === TAKEN_BACK) return { ...(await create(job, scope, data)), kind: "updated" };
    const updated =
      found === undefined || !(await mayKnow(job, scope, found.id)) ? undefined : await change(job, scope, found, data);
    return updated ?? (await create(job, scope, data));
  } catch (error) {
    const found = rowErrors(error);
    if (found === undefined || writes.changes !== before) throw error;
    return { kind: "failed", errors: found };
  }
}

/** A record with the values of a row's key, which it must still have when it is changed. */
interface Existing {
  readonly id: string;
  readonly when: Where;
}

/** Finds the record with the row's values, even if the caller may not read it. */
async function existing(
  { upsertBy, unique }: ImportJob,
  { owners }: CollectedWrites,
  data: GivenRow["data"],
): Promise<Existing | undefined> {
  const values = upsertBy && unique.valuesOf(upsertBy, data);
  if (upsertBy === undefined || values === undefined) return undefined;
  const id = await owners.of(upsertBy, values);
  // A record that a dry run has rolled back cannot be changed. The row is checked as a new record instead.
  if (id === TAKEN_BACK) owners.release(upsertBy, values);
  return id === null ? undefined : { id, when: values };
}

/**
 * Whether the caller may know that a record has the values of its row. They may if they can write these values in any
 * record, and so learn it from a conflict, or if they can find the record by these values in a list.
 */
async function mayKnow({ entity, upsertBy = [] }: ImportJob, scope: OperationScope, id: string): Promise<boolean> {
  if (scope.principal.kind === "system") return true;
  const { filterable, writable, writablePerRow, readablePerRow } = scope.access.mask(entity);
  if (upsertBy.every((name) => writable.has(name) && writablePerRow?.has(name) !== true)) return true;
  const shows = upsertBy.filter((name) => readablePerRow?.has(name));
  const { allowed } = await scope.access.readDecision(entity);
  if (!allowed || !upsertBy.every((name) => filterable.has(name))) return false;
  const query = { where: { id, ...Object.fromEntries(shows.map((name) => [name, { null: false }])) }, select: ["id"] };
  return (await scope.run({ kind: "list", entity, query: { ...query, limit: 1 } })).records.length > 0;
}

/**
 * Changes a record if the caller may; undefined otherwise. The row is then created as a new record and meets the same
 * conflict as any create, so that an import reveals no more about hidden records than a create does.
 */
async function change(
  { entity, rules }: ImportJob,
  scope: OperationScope,
  { id, when }: Existing,
  data: GivenRow["data"],
): Promise<RowOutcome | undefined> {
  const isTheirs = await findsRecord(scope, {
    kind: "read",
    access: "update",
    entity,
    id,
    rules,
    query: {},
    ifFound: true,
  });
  if (!isTheirs) return undefined;
  const { id: _, ...changes } = data;
  const operation = await scope.run({ kind: "update", entity, id, rules, data: changes, when, ifFound: true });
  return operation.applied ? { kind: "updated", ignored: operation.ignored } : undefined;
}

async function create(
  { entity, rules }: ImportJob,
  scope: OperationScope,
  data: GivenRow["data"],
): Promise<RowOutcome> {
  const { ignored } = await scope.run({ kind: "create", entity, rules, data });
  return { kind: "created", ignored };
}

/**
 * The reasons why a row was refused: one message per field, and `_` for the row as a whole, as in the bodies of errors.
 * Undefined for errors that are not about the row.
 * @param sent the values of the row, when the error did not pass the gate: only these fields of a conflict are named
 */
function rowErrors(error: unknown, sent?: object): FieldErrors | undefined {
  if (!isKeelsonError(error) || error.status >= 500) return undefined;
  if (error instanceof ValidationFailedError) return error.errors;
  const isSent = (name: string): boolean => sent === undefined || Object.hasOwn(sent, name);
  const fields = error instanceof ConflictError ? error.fields.filter(isSent) : [];
  if (fields.length > 0) return Object.fromEntries(fields.map((name) => [name, "is already taken"]));
  return { _: error.message };
}
