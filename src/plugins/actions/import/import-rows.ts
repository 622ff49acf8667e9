import { BadRequestError, type FieldErrors, PayloadTooLargeError, UnavailableError } from "../../../kernel/index.ts";
import { BrokenBody, type GivenRow } from "./given-row.ts";
import { type ImportJob, importBatch, type RowOutcome } from "./import-batch.ts";

/** Approximate characters of a batch: a batch has fewer rows if they are large. */
const BATCH_SIZE = 4 * 1_048_576;

/**
 * Imports rows batch by batch, as they arrive.
 * @throws any error that ends the import. Batches that are already stored stay; when the body cannot be read any
 * further, all rows before that point are stored too
 */
export async function importRows(
  job: ImportJob,
  tally: ImportTally,
  given: AsyncIterable<GivenRow> | Iterable<GivenRow>,
): Promise<void> {
  const { scope } = job;
  let failure: BadRequestError | PayloadTooLargeError | undefined;
  /** Rows up to the end of the body, or up to the first place that cannot be read. */
  async function* readable(): AsyncGenerator<GivenRow> {
    try {
      for await (const row of given) {
        tally.rows++;
        yield row;
      }
    } catch (error) {
      if (!(error instanceof BadRequestError || error instanceof PayloadTooLargeError)) throw error;
      failure = error;
    }
  }
  for await (const batch of batches(readable(), job.batch)) {
    for (let rest = batch; rest.length > 0; ) {
      if (scope.exchange?.signal?.aborted) throw new UnavailableError("The request took too long");
      const outcomes = await importBatch(job, rest);
      for (const outcome of outcomes) tally.add(outcome);
      rest = rest.slice(outcomes.length);
    }
  }
  if (failure !== undefined) throw endedEarly(failure, tally, scope.app.limits.importBytes);
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

/** The error for a body that cannot be read to its end. It names the row and counts the rows imported so far. */
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

/** A row of an import that was refused. */
export interface FailedRow {
  /** Counts from 1, without the header. */
  readonly row: number;
  /** A message per field; `_` for the row as a whole. */
  readonly errors: FieldErrors;
}

/** The response of an import. */
export interface ImportResult {
  readonly created: number;
  readonly updated: number;
  /** The first 1000 rows that were refused. */
  readonly failed: readonly FailedRow[];
  /** The number of refused rows, if there are more than `failed` holds. */
  readonly failedCount?: number;
}

const REPORTED = 1_000;

/** Counts the outcomes of rows, in the order of the rows. */
export class ImportTally {
  rows = 0;
  created = 0;
  updated = 0;
  failedCount = 0;
  readonly ignored = new Set<string>();
  readonly #failed: FailedRow[] = [];

  add({ kind, errors = {}, ignored = [] }: RowOutcome): void {
    if (kind === "created") this.created++;
    else if (kind === "updated") this.updated++;
    else if (++this.failedCount <= REPORTED)
      this.#failed.push({ row: this.created + this.updated + this.failedCount, errors });
    for (const name of ignored) this.ignored.add(name);
  }

  result(): ImportResult {
    const { created, updated, failedCount } = this;
    const rest = failedCount > REPORTED ? { failedCount } : {};
    return { created, updated, failed: this.#failed, ...rest };
  }
}
