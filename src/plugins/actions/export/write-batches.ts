import type { ColumnDefinition } from "../../../entity/index.ts";
import { type OperationScope, presentSettled, type Row } from "../../../gate/index.ts";
import type { Batch } from "./create-batch-reader.ts";
import type { ExportFormat } from "./export-format.ts";

/** Records of the first batch, whose size nobody knows yet. */
export const FIRST_BATCH = 100;
/** Records of a batch at most. */
export const MOST_RECORDS = 1_000;
/** Characters that a batch should have: memory is bounded in bytes, not in records, which may be long. */
const AIM = 524_288;

/** How an export is written. */
export interface BatchWriting {
  readonly scope: OperationScope;
  readonly format: ExportFormat;
  readonly columns: readonly ColumnDefinition[];
  readonly first: Batch;
  readonly read: (limit: number) => Promise<Batch>;
}

/**
 * An export as text, a piece per batch. A batch is read when the piece before has been taken: a client that stops reading
 * stops the queries. What fails on the way is thrown, and there is no end to the text.
 */
export async function* writeBatches({ scope, format, columns, first, read }: BatchWriting): AsyncGenerator<string> {
  let batch = first;
  let text = format.begin(columns);
  for (;;) {
    const { length } = batch.records;
    if (length > 0) {
      const shown = (await presentSettled(batch.records, scope, format.wire)) as readonly Row[];
      if (batch !== first) text += format.between;
      text += format.batch(shown, columns);
    }
    if (batch.isLast) break;
    const size = nextSize(length, text.length);
    yield text;
    scope.signal?.throwIfAborted();
    text = "";
    batch = await read(size);
  }
  yield text + format.end;
}

function nextSize(records: number, characters: number): number {
  return Math.min(MOST_RECORDS, Math.max(1, Math.floor((records * AIM) / characters)));
}
