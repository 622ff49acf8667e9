import { isDeepStrictEqual } from "node:util";
import {
  allOf,
  asItMeets,
  ByteBudget,
  compileWhere,
  markShown,
  type Operation,
  type Row,
  type RowAccess,
  satisfiesAlone,
  type Where,
} from "../../../gate/index.ts";

/** Decides, for each record of an operation, which of the fields that depend on the record it shows. */
export function judgeRecords(operation: Operation): void | Promise<void> {
  const { scope, entity, records, principal } = operation;
  if (records.length === 0 || principal.kind === "system") return;
  const perRow = scope.access.mask(entity).readablePerRow;
  return perRow === undefined ? undefined : judge(operation, perRow);
}

async function judge(operation: Operation, perRow: ReadonlyMap<string, RowAccess>): Promise<void> {
  const shown = operation.records.map(() => new Set<string>());
  for (const [name, access] of perRow) {
    if (!operation.records.some((record) => name in record)) continue;
    const answers = await answersOf(operation, name, access);
    answers.forEach((answer, index) => {
      if (answer) (shown[index] as Set<string>).add(name);
    });
  }
  operation.records.forEach((record, index) => {
    markShown(record, operation.scope, shown[index] as Set<string>);
  });
}

/**
 * Which records show a field. Conditions that need the database are queried after the records were read. Such a result
 * only counts if the field still has the value that is shown, because the record may have changed in between.
 */
async function answersOf(operation: Operation, name: string, access: RowAccess): Promise<boolean[]> {
  const { records, scope, entity } = operation;
  const { predicate, guard } = access;
  const isShownBy = (record: Row, later: Row | undefined): boolean =>
    later !== undefined && isDeepStrictEqual(later[name], record[name]);
  const alone = records.map((record) => satisfiesAlone(scope, entity, record, access));
  const unsure = records.filter((_, index) => alone[index] === undefined);
  const matching = predicate === undefined ? NONE : await readAgain(operation, unsure, ["id", name], predicate);
  const answers = records.map((record, index) => alone[index] ?? isShownBy(record, matching.get(record.id)));
  if (guard === undefined) return answers;
  const left = new Map(records.flatMap((record, index) => (answers[index] ? [] : [[record.id, index]])));
  for await (const whole of wholeRecords(operation, [...left.keys()] as string[])) {
    const index = left.get(whole.id) as number;
    const record = records[index] as Row;
    if (!isShownBy(record, whole)) continue;
    const answer = await guard(whole);
    answers[index] =
      typeof answer === "object" ? isShownBy(record, await asItMeets(scope, entity, answer, whole)) : answer === true;
  }
  return answers;
}

const NONE: ReadonlyMap<unknown, Row> = new Map();

/** Reads some current values of the records that meet a condition, by id. */
async function readAgain(
  { scope, entity }: Operation,
  records: readonly Row[],
  select: readonly string[],
  predicate: Where,
): Promise<ReadonlyMap<unknown, Row>> {
  if (records.length === 0) return NONE;
  const where = allOf({ id: { in: records.map(({ id }) => id) } }, predicate);
  const rows = await scope.driver.findMany(entity, { where, select });
  return new Map(rows.map((row) => [row.id, row]));
}

/** The most bytes of whole records that are held at once. */
const PORTION = 1_048_576;

/**
 * Records with all their columns, because a rule may read any of them. Records that were read completely are reused.
 * Others are read again in portions, because columns that are hidden from the caller may be long.
 */
async function* wholeRecords({ scope, entity, records }: Operation, ids: readonly string[]): AsyncGenerator<Row> {
  const asked = new Set(ids);
  const columns = Object.keys(entity.columns);
  for (const record of records) {
    if (!asked.has(record.id as string) || !columns.every((column) => column in record)) continue;
    asked.delete(record.id as string);
    yield record;
  }
  while (asked.size > 0) {
    const bytes = new ByteBudget(PORTION);
    const where = compileWhere(scope.app.model, entity, { id: { in: [...asked] } });
    const rows = await scope.driver.execute({ kind: "find", entity, where, limit: asked.size, bytes });
    for (const row of rows) {
      asked.delete(row.id as string);
      yield row;
    }
    if (!bytes.isCut) return;
  }
}
