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

/** Some records of an export, tagged: to be masked on their way out. */
interface Batch {
  readonly records: readonly Row[];
  readonly isLast: boolean;
}

interface BatchSource extends Pick<OperationInput, "rules" | "bounded"> {
  readonly entity: AnyEntity;
  /** Asked for once, when the rules have allowed the first batch. */
  readonly query: () => OperationQuery | Promise<OperationQuery>;
}

/**
 * Reads the records of a query batch by batch, in its order, each batch after the last record of the one before.
 *
 * Each batch is a list operation of the caller, and not a portion of `Driver.stream`: so there is one gate, and nothing
 * of what it does (rules, records that are there, decryption, fields that depend on the record) is done again here. Who
 * loses the right to read while a slow client reads gets no further batch. The position is values and not a cursor,
 * since a cursor has to fit a header: an order by long texts has none.
 */
export function createBatchReader(
  scope: OperationScope,
  { entity, rules, bounded, query }: BatchSource,
): (limit: number) => Promise<Batch> {
  let asked: OperationQuery = {};
  let position: readonly unknown[] | undefined;

  /** Sort keys are selected too, for the position. */
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

/** Records of the first batch, whose size is not known yet. */
export const FIRST_BATCH = 100;
/** Records of a batch at most. */
export const MOST_RECORDS = 1_000;
/** Characters that a batch should have: memory is bounded in bytes, not in records, which may be long. */
const AIM = 524_288;

/** How an export is written. */
interface BatchWriting {
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
    scope.exchange?.signal?.throwIfAborted();
    text = "";
    batch = await read(size);
  }
  yield text + format.end;
}

function nextSize(records: number, characters: number): number {
  return Math.min(MOST_RECORDS, Math.max(1, Math.floor((records * AIM) / characters)));
}
