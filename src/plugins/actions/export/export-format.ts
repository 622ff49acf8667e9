import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";

/** A way to write records one batch after another. */
export interface ExportFormat {
  headers(entity: AnyEntity): Readonly<Record<string, string>>;
  /** Whether it takes values in their JSON form; otherwise as they are stored. */
  readonly wire: boolean;
  /** What comes before the records. */
  begin(columns: readonly ColumnDefinition[]): string;
  /** One record or more, masked. */
  batch(records: readonly Row[], columns: readonly ColumnDefinition[]): string;
  /** What comes between two batches. */
  readonly between: string;
  /** What comes after the records; without it, an export that broke off is no whole one. */
  readonly end: string;
}
