import { setImmediate as nextTurn } from "node:timers/promises";
import { ConflictError, InternalError, type OperationScope } from "../../../kernel/index.ts";
import { type CollectedWrites, collectCreates } from "./collect-creates.ts";
import type { GivenRow } from "./given-row.ts";
import type { ImportJob } from "./import-job.ts";
import { importRow } from "./import-row.ts";
import type { RowOutcome } from "./import-tally.ts";
import { Owners } from "./owners.ts";
import { rowErrors } from "./row-errors.ts";

/** Milliseconds after which a transaction takes no further row; hashing a password alone takes the better part of one second. */
const LONG_MS = 2_000;
/** Rows after which others get a turn. */
const STRETCH = 50;
/** Values that were free a moment ago may be taken by others: then the batch is done again, and in the end row by row. */
const ATTEMPTS = 3;

/** Ends a transaction of which nothing is to stay. Never leaves this file. */
class TakenBack extends InternalError {}

/**
 * Stores the first rows of a batch in one transaction: all of them, unless that takes long.
 * @returns what became of them, in order
 * @throws what is no fault of any row
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
  const { model } = job.scope;
  let writes: CollectedWrites | undefined;
  let outcomes: RowOutcome[] = [];
  try {
    await job.scope.transaction(
      async (scope) => {
        if (writes === undefined)
          throw new InternalError("An import has transactions of its own; run it outside of one");
        outcomes = await importRows(job, scope, writes, rows);
        if (job.dryRun) throw new TakenBack();
      },
      {
        around(driver) {
          const owners = new Owners(driver, entity, unique, takenBack);
          writes = collectCreates(driver, { model, entity, owners });
          return writes.driver;
        },
      },
    );
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error;
    for (const text of writes?.owners.added ?? []) takenBack.add(text);
  }
  return outcomes;
}

async function importRows(
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
