import {
  allOf,
  expectUnchanged,
  type FieldQuestion,
  type Operation,
  observe,
  type Row,
  type RowAccess,
  satisfiesAlone,
} from "../../../kernel/index.ts";
import type { RuledField } from "./field-plan.ts";
import { newRecord } from "./new-record.ts";

/** Whether the record in question lets a field be written. */
type Judge = (access: RowAccess) => Promise<boolean>;

/**
 * Takes out of a write what the rules of single fields do not let through, and names it (spec 4.1 rule 2). On update
 * the stored record decides, and the statement applies only while it still does.
 */
export async function dropUnwritable(fields: readonly RuledField[], operation: Operation): Promise<void> {
  const { kind, principal, data } = operation;
  if (principal.kind === "system") return;
  const undecided = new Map<string, RowAccess>();
  for (const { name, writable } of fields) {
    if (writable === undefined || data[name] === undefined) continue;
    const { entity, scope } = operation;
    const question: FieldQuestion = { kind: kind as "create" | "update", entity, principal, scope };
    const answer = await writable(question);
    if (question.apart === true) operation.apart = true;
    if (typeof answer === "object") undecided.set(name, answer);
    else if (!answer) drop(operation, name);
  }
  if (undecided.size === 0) return;
  if (operation.ids !== undefined) {
    operation.apart = true;
    return;
  }
  const judge = kind === "create" ? onNewRecord(operation, undecided) : onStoredRecord(operation);
  for (const [name, access] of undecided) if (!(await judge(access))) drop(operation, name);
}

function drop({ data, ignored }: Operation, name: string): void {
  delete data[name];
  if (!ignored.includes(name)) ignored.push(name);
}

function onNewRecord({ scope, entity, data }: Operation, undecided: ReadonlyMap<string, RowAccess>): Judge {
  const record = newRecord(entity, data, undecided);
  return async (access) => {
    if (satisfiesAlone(scope, entity, record, access) === true) return true;
    const seen = observe(entity, record);
    // What is not in the record is unknown, and not empty.
    return (await access.guard?.(seen.record)) === true && [...seen.columns()].every((name) => name in record);
  };
}

/** Only of a record that the rules let this caller change: of another one, no answer must tell anything. */
function onStoredRecord(operation: Operation): Judge {
  const { scope, entity, decision, extraWhere, id } = operation;
  const own = allOf({ id }, extraWhere, decision.guard === undefined ? decision.predicate : undefined);
  return async ({ predicate, guard }) => {
    if (predicate !== undefined) {
      const where = allOf(own, predicate);
      if ((await scope.driver.findOne(entity, where, { select: ["id"] })) !== null) {
        operation.expected = allOf(operation.expected, predicate);
        return true;
      }
    }
    const record: Row | null = guard === undefined ? null : await scope.driver.findOne(entity, own);
    if (record === null) return false;
    const seen = observe(entity, record);
    if ((await guard?.(seen.record)) !== true) return false;
    expectUnchanged(operation, seen);
    return true;
  };
}
