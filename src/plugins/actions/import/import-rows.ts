import { BadRequestError, type FieldErrors, PayloadTooLargeError, UnavailableError } from "../../../kernel/index.ts";
import { BrokenBody, type GivenRow } from "./given-row.ts";
import { type ImportJob, importBatch, type RowOutcome } from "./import-batch.ts";

/** Characters of a batch, about: a batch of large rows has fewer of them. */
const BATCH_SIZE = 4 * 1_048_576;

/**
 * Imports rows as they come, batch by batch.
 * @throws what ends the import; batches before that stay, and so do all rows before the place where a body breaks
 */
export async function importRows(
  job: ImportJob,
  tally: ImportTally,
  given: AsyncIterable<GivenRow> | Iterable<GivenRow>,
): Promise<void> {
  const { scope } = job;
  let failure: BadRequestError | PayloadTooLargeError | undefined;
  /** Rows up to where they end, or where they cannot be read any further: what came before is fine. */
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

/** A row of an import that was refused. */
export interface FailedRow {
  /** Counts from 1, without the header. */
  readonly row: number;
  /** A message per field; `_` for what is about the row as a whole. */
  readonly errors: FieldErrors;
}

/** The answer of an import. */
export interface ImportResult {
  readonly created: number;
  readonly updated: number;
  /** The first 1000 rows that were refused. */
  readonly failed: readonly FailedRow[];
  /** How many were refused, when there are more than `failed` has. */
  readonly failedCount?: number;
}

const REPORTED = 1_000;

/** Counts what becomes of rows, in the order in which they came. */
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
