import { isDeepStrictEqual } from "node:util";
import {
  allOf,
  asItMeets,
  markShown,
  type Operation,
  type Row,
  type RowAccess,
  satisfiesAlone,
  type Where,
} from "../../../gate/index.ts";

/** Decides for the records of an operation which of the fields that depend on the record each of them shows. */
export function judgeRecords(operation: Operation): void | Promise<void> {
  const { scope, entity, records, principal } = operation;
  if (records.length === 0 || principal.kind === "system") return;
  const perRow = scope.mask(entity).readablePerRow;
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
 * Which records show a field. What is asked of the database is asked after the records were read: an answer counts only for
 * the value that is shown, because a record that changed in between is answered for as it is by then.
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
  const left = records.filter((_, index) => !answers[index]);
  const isWhole = left.every((record) => Object.keys(entity.columns).every((column) => column in record));
  const whole = isWhole ? new Map(left.map((record) => [record.id, record])) : await readAgain(operation, left);
  for (const [index, record] of records.entries()) {
    const asked = answers[index] ? undefined : whole.get(record.id);
    if (asked === undefined || !isShownBy(record, asked)) continue;
    const answer = await guard(asked);
    if (typeof answer !== "object") answers[index] = answer === true;
    else answers[index] = isShownBy(record, await asItMeets(scope, entity, answer, asked));
  }
  return answers;
}

const NONE: ReadonlyMap<unknown, Row> = new Map();

/**
 * Records by id as they are now, in one statement. Rules may look at columns that were not selected: to them, what is not
 * there would look like what is empty.
 */
async function readAgain(
  { scope, entity }: Operation,
  records: readonly Row[],
  select?: readonly string[],
  predicate?: Where,
): Promise<ReadonlyMap<unknown, Row>> {
  if (records.length === 0) return NONE;
  const where = allOf({ id: { in: records.map(({ id }) => id) } }, predicate);
  const rows = await scope.driver.findMany(entity, { where, select });
  return new Map(rows.map((row) => [row.id, row]));
}
