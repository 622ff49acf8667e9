import type { OperationScope } from "../../../kernel/index.ts";
import type { CollectedWrites } from "./collect-creates.ts";
import type { GivenRow } from "./given-row.ts";
import type { ImportJob } from "./import-job.ts";
import type { RowOutcome } from "./import-tally.ts";
import { TAKEN_BACK } from "./owners.ts";
import { rowErrors } from "./row-errors.ts";

/**
 * Brings one row through the gate.
 * @throws what is no fault of the row, and what refuses a row of which something is stored already: the transaction must
 * be rolled back
 */
export async function importRow(
  job: ImportJob,
  scope: OperationScope,
  writes: CollectedWrites,
  { data, errors }: GivenRow,
): Promise<RowOutcome> {
  if (errors !== undefined) return { kind: "failed", errors };
  const before = writes.changes;
  try {
    const id = await existing(job, writes, data);
    if (id === TAKEN_BACK) return { ...(await create(job, scope, data)), kind: "updated" };
    const updated =
      id === undefined || !(await mayKnow(job, scope, id)) ? undefined : await change(job, scope, id, data);
    return updated ?? (await create(job, scope, data));
  } catch (error) {
    const found = rowErrors(error);
    if (found === undefined || writes.changes !== before) throw error;
    return { kind: "failed", errors: found };
  }
}

/** The record with the row's values, whoever may see it. */
async function existing(
  { upsertBy, unique }: ImportJob,
  { owners }: CollectedWrites,
  data: GivenRow["data"],
): Promise<string | undefined> {
  const values = upsertBy && unique.valuesOf(upsertBy, data);
  if (upsertBy === undefined || values === undefined) return undefined;
  const id = await owners.of(upsertBy, values);
  // A record that a dry run has taken back cannot be changed: what it would be changed to is checked as a new one.
  if (id === TAKEN_BACK) owners.release(upsertBy, values);
  return id ?? undefined;
}

/**
 * Whether the caller may know that a record has the values of its row: they may write these values, and so learn it from a
 * conflict, or find the record by them in a list.
 */
async function mayKnow({ entity, upsertBy = [] }: ImportJob, scope: OperationScope, id: string): Promise<boolean> {
  if (scope.principal.kind === "system") return true;
  const { filterable, writable, writablePerRow, readablePerRow } = scope.mask(entity);
  if (upsertBy.every((name) => writable.has(name) && writablePerRow?.has(name) !== true)) return true;
  const shows = upsertBy.filter((name) => readablePerRow?.has(name));
  const { allowed } = await scope.readDecision(entity);
  if (!allowed || !upsertBy.every((name) => filterable.has(name))) return false;
  const query = { where: { id, ...Object.fromEntries(shows.map((name) => [name, { null: false }])) }, select: ["id"] };
  return (await scope.run({ kind: "list", entity, query: { ...query, limit: 1 } })).records.length > 0;
}

/**
 * Changes a record, if the caller may; undefined otherwise. Then the row goes on as a new one and meets the conflict that
 * it would meet there, so that nothing is told about a record out of reach that a create does not tell.
 */
async function change(
  { entity, rules }: ImportJob,
  scope: OperationScope,
  id: string,
  data: GivenRow["data"],
): Promise<RowOutcome | undefined> {
  const query = { select: ["id"] };
  const { applied } = await scope.run({ kind: "read", access: "update", entity, id, rules, query, ifFound: true });
  if (!applied) return undefined;
  const { id: _, ...changes } = data;
  const operation = await scope.run({ kind: "update", entity, id, rules, data: changes, ifFound: true });
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
