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
 * @throws what ends the import; batches before that stay, and so do all rows before the place where a body breaks
 */
export async function importRows(job: ImportJob, rows: AsyncIterable<GivenRow> | Iterable<GivenRow>): Promise<void> {
  const { scope, tally } = job;
  const source = new Source(rows, tally);
  for await (const batch of batches(source.rows(), job.batch)) {
    for (let rest = batch; rest.length > 0; ) {
      if (scope.signal?.aborted) throw new UnavailableError("The request took too long");
      const outcomes = await importBatch(job, rest);
      for (const outcome of outcomes) tally.add(outcome);
      rest = rest.slice(outcomes.length);
    }
  }
  if (source.failure !== undefined) throw endedEarly(source.failure, tally, scope.limits.importBytes);
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

/** Rows up to where they end, or where they cannot be read any further: what came before is fine. */
class Source {
  /** Why they ended too early. */
  failure: BadRequestError | PayloadTooLargeError | undefined;
  readonly #rows: AsyncIterable<GivenRow> | Iterable<GivenRow>;
  readonly #tally: ImportTally;

  constructor(rows: AsyncIterable<GivenRow> | Iterable<GivenRow>, tally: ImportTally) {
    this.#rows = rows;
    this.#tally = tally;
  }

  async *rows(): AsyncGenerator<GivenRow> {
    try {
      for await (const row of this.#rows) {
        this.#tally.rows++;
        yield row;
      }
    } catch (error) {
      if (!(error instanceof BadRequestError || error instanceof PayloadTooLargeError)) throw error;
      this.failure = error;
    }
  }
}

/** A body that cannot be read to its end: the error says how far the import came. */
function endedEarly(
  error: BadRequestError | PayloadTooLargeError,
  { rows, created, updated, failedCount: failed }: ImportTally,
  limit: number,
): Error {
  const row = rows + 1;
  const details = { row, created, updated, failed };
  if (error instanceof BrokenBody) return new BadRequestError(`Row ${row} ${error.message}`, { details, cause: error });
  if (error instanceof PayloadTooLargeError) return new PayloadTooLargeError(limit, { details });
  return rows > 0 ? new BadRequestError(error.message, { details, cause: error }) : error;
}
