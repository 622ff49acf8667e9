import type { AnyEntity } from "../../../entity/index.ts";
import {
  ByteBudget,
  type OperationInput,
  type OperationQuery,
  type OperationScope,
  type Row,
  totalOrder,
} from "../../../gate/index.ts";

/** Some records of an export, tagged: to be masked on their way out. */
export interface Batch {
  readonly records: readonly Row[];
  readonly isLast: boolean;
}

export interface BatchSource extends Pick<OperationInput, "rules" | "bounded"> {
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
    const bytes = new ByteBudget(scope.limits.pageBytes);
    const { records } = await scope.run({
      kind: "list",
      entity,
      rules,
      bounded,
      bytes,
      async query() {
        if (isFirst) asked = await query();
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
