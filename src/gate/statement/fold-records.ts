import type { Row } from "../condition/condition.ts";
import { and } from "../condition/condition.ts";
import { type Aggregate, Fold } from "./aggregate.ts";
import { keysetCondition } from "./keyset.ts";
import type { Execute } from "./statement.ts";

/** Maximum number of records in memory at a time. */
const PORTION = 1_000;

/** Computes an aggregate by reading the records, for drivers without `aggregates`. */
export async function foldRecords(execute: Execute, statement: Aggregate): Promise<Row[]> {
  const { entity, where, groups, measures } = statement;
  const columns = [...groups, ...measures].flatMap(({ column }) => (column === undefined ? [] : [column.name]));
  const select = [...new Set(["id", ...columns])];
  const sort = [{ field: "id", direction: "asc" }] as const;
  const fold = new Fold(statement);
  for (let last: unknown; ; ) {
    const further = last === undefined ? where : and([where, keysetCondition(entity, sort, [last], where)]);
    const rows = await execute({ kind: "find", entity, where: further, select, sort, limit: PORTION });
    for (const row of rows) fold.record(row);
    if (rows.length < PORTION) return fold.rows();
    last = rows.at(-1)?.id;
  }
}
