import { BadRequestError, PayloadTooLargeError, UnavailableError } from "../../../kernel/index.ts";
import { BrokenBody } from "./broken-body.ts";
import type { GivenRow } from "./given-row.ts";
import { importBatch } from "./import-batch.ts";
import type { ImportJob } from "./import-job.ts";
import type { ImportTally } from "./import-tally.ts";

/** Characters of a batch, about: a batch of large rows has fewer of them. */
const BATCH_SIZE = 4 * 1_048_576;

/**
 * Imports rows as they come, batch by batch.
 * @throws what ends the import; batches before that stay
 */
export async function importRows(job: ImportJob, rows: AsyncIterable<GivenRow> | Iterable<GivenRow>): Promise<void> {
  const { scope, tally } = job;
  for await (const batch of batches(counted(rows, job), job.batch)) {
    for (let rest = batch; rest.length > 0; ) {
      if (scope.signal?.aborted) throw new UnavailableError("The request took too long");
      const outcomes = await importBatch(job, rest);
      for (const outcome of outcomes) tally.add(outcome);
      rest = rest.slice(outcomes.length);
    }
  }
}

async function* batches(rows: AsyncIterable<GivenRow>, length: number): AsyncGenerator<readonly GivenRow[]> {
  let batch: GivenRow[] = [];
  let size = 0;
  for await (const row of rows) {
    batch.push(row);
    size += row.size;
    if (batch.length < length && size < BATCH_SIZE) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

async function* counted(
  rows: AsyncIterable<GivenRow> | Iterable<GivenRow>,
  { tally, scope }: ImportJob,
): AsyncGenerator<GivenRow> {
  try {
    for await (const row of rows) {
      tally.rows++;
      yield row;
    }
  } catch (error) {
    throw endedEarly(error, tally, scope.limits.importBytes);
  }
}

/** A body that cannot be read to its end: the error says how far the import came. */
function endedEarly(
  error: unknown,
  { rows, created, updated, failedCount: failed }: ImportTally,
  limit: number,
): unknown {
  const row = rows + 1;
  const details = { row, created, updated, failed };
  if (error instanceof BrokenBody) return new BadRequestError(`Row ${row} ${error.message}`, { details, cause: error });
  if (error instanceof PayloadTooLargeError) return new PayloadTooLargeError(limit, { details });
  if (error instanceof BadRequestError && rows > 0)
    return new BadRequestError(error.message, { details, cause: error });
  return error;
}
