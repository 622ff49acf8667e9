import type { FieldErrors } from "../../../kernel/index.ts";

/** What became of a row. */
export interface RowOutcome {
  readonly kind: "created" | "updated" | "failed";
  readonly errors?: FieldErrors | undefined;
  /** Fields that the caller may not write and that were left out. */
  readonly ignored?: readonly string[] | undefined;
}

/** A row of an import that was refused. */
export interface FailedRow {
  /** Counts from 1; a header is none. */
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
  /** Rows that were read. */
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
