import {
  allOf,
  markShown,
  meets,
  type Operation,
  type Row,
  type RowAccess,
  satisfiesAlone,
} from "../../../kernel/index.ts";

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
    const answers = await answersOf(operation, access);
    answers.forEach((answer, index) => {
      if (answer) (shown[index] as Set<string>).add(name);
    });
  }
  operation.records.forEach((record, index) => {
    markShown(record, operation.scope, shown[index] as Set<string>);
  });
}

async function answersOf(operation: Operation, access: RowAccess): Promise<boolean[]> {
  const { records, scope, entity } = operation;
  const alone = records.map((record) => satisfiesAlone(scope, entity, record, access));
  const unsure = records.filter((_, index) => alone[index] === undefined);
  const matching = unsure.length === 0 ? new Set() : await matchingIds(operation, access, unsure);
  const answers = records.map((record, index) => alone[index] ?? matching.has(record.id));
  const { guard } = access;
  if (guard === undefined) return answers;
  const left = await wholeRecords(
    operation,
    records.filter((_, index) => !answers[index]),
  );
  for (const [index, { id }] of records.entries()) {
    const record = left.get(id);
    if (record === undefined || answers[index]) continue;
    const answer = await guard(record);
    answers[index] = typeof answer === "object" ? await meets(scope, entity, answer, record) : answer === true;
  }
  return answers;
}

/** Conditions that look beyond the fetched columns are asked of the database: one statement for all records. */
async function matchingIds(
  { scope, entity }: Operation,
  { predicate }: RowAccess,
  records: readonly Row[],
): Promise<ReadonlySet<unknown>> {
  if (predicate === undefined) return new Set();
  const where = allOf({ id: { in: records.map(({ id }) => id) } }, predicate);
  const rows = await scope.driver.findMany(entity, { where, select: ["id"] });
  return new Set(rows.map(({ id }) => id));
}

/** Records by id, with the columns that were not selected: to a rule, what is not there would look like what is empty. */
async function wholeRecords({ scope, entity }: Operation, records: readonly Row[]): Promise<ReadonlyMap<unknown, Row>> {
  const isWhole = records.every((record) => Object.keys(entity.columns).every((name) => name in record));
  const rows = isWhole
    ? records
    : await scope.driver.findMany(entity, { where: { id: { in: records.map(({ id }) => id) } } });
  return new Map(rows.map((row) => [row.id, row]));
}
