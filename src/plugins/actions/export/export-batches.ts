import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import {
  ByteBudget,
  type OperationInput,
  type OperationQuery,
  type OperationScope,
  presentSettled,
  type Row,
  totalOrder,
} from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import type { ExportFormat } from "./export-formats.ts";

/** Some records of an export, tagged so that they are masked when they are written. */
interface Batch {
  readonly records: readonly Row[];
  readonly isLast: boolean;
}

interface BatchSource extends Pick<OperationInput, "rules" | "bounded"> {
  readonly entity: AnyEntity;
  /** Called once, after the rules have allowed the first batch. */
  readonly query: () => OperationQuery | Promise<OperationQuery>;
}

/**
 * Reads the records of a query batch by batch, in the query's order. Each batch starts after the last record of the
 * batch before.
 *
 * Each batch is a list operation of the caller, not a portion of `Driver.stream`. The gate therefore applies rules,
 * visibility, decryption and per-record fields, and none of that is repeated here. A caller who loses the right to read
 * during a slow export gets no further batch. The position is a list of values, not a cursor: a cursor has to fit into
 * a header, which long texts do not.
 */
export function createBatchReader(
  scope: OperationScope,
  { entity, rules, bounded, query }: BatchSource,
): (limit: number) => Promise<Batch> {
  let asked: OperationQuery = {};
  let position: readonly unknown[] | undefined;

  /** Also selects the sort keys, which the position needs. */
  function page(limit: number, order: readonly string[]): OperationQuery {
    const { select } = asked;
    return { ...asked, position, select: select && [...new Set([...select, ...order])], limit };
  }

  return async (limit) => {
    const isFirst = position === undefined;
    let order = totalOrder(undefined);
    let added: readonly string[] = [];
    const bytes = new ByteBudget(scope.app.limits.pageBytes);
    const { records } = await scope.run({
      kind: "list",
      entity,
      rules,
      bounded,
      bytes,
      async query() {
        if (isFirst) asked = await query();
        if (asked.sort?.some(({ field }) => field.includes(".")))
          throw new BadRequestError("An export is sorted by fields of its own records");
        order = totalOrder(asked.sort);
        const fields = order.map(({ field }) => field);
        added = asked.select ? fields.filter((field) => field !== "id" && !asked.select?.includes(field)) : [];
        return page(limit, fields);
      },
    });
    const last = records.at(-1);
    if (last !== undefined) position = order.map(({ field }) => last[field] ?? null);
    for (const field of added) for (const record of records) delete record[field];
    return { records, isLast: records.length < limit && !bytes.isCut };
  };
}

/** Records of the first batch, when the size of a record is not known yet. */
export const FIRST_BATCH = 100;
/** The most records of a batch. */
export const MOST_RECORDS = 1_000;
/** The target size of a batch in characters. It bounds memory when records are long. */
const AIM = 524_288;

/** The parts of writing an export. */
interface BatchWriting {
  readonly scope: OperationScope;
  readonly format: ExportFormat;
  readonly columns: readonly ColumnDefinition[];
  readonly first: Batch;
  readonly read: (limit: number) => Promise<Batch>;
}

/**
 * Writes an export as text, one piece per batch. The next batch is read only after the client has taken the piece
 * before, so a client that stops reading stops the queries. After an error the text has no end.
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
    scope.exchange?.signal?.throwIfAborted();
    text = "";
    batch = await read(size);
  }
  yield text + format.end;
}

function nextSize(records: number, characters: number): number {
  return Math.min(MOST_RECORDS, Math.max(1, Math.floor((records * AIM) / characters)));
}
