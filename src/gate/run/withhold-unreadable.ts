import type { Row } from "../condition/where.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { Decision } from "../operation/operation.ts";
import { asItPasses } from "../requirement/passes.ts";
import { readDecisionOf } from "../requirement/stored-record.ts";

/**
 * A write must not be a way to read: who may not read the record they wrote is told its id and nothing else, and
 * nothing of what is related to it.
 */
export function withholdUnreadable(operation: MutableOperation): Promise<void> | undefined {
  const row = operation.records[0];
  if (row === undefined) return undefined;
  const decision = readDecisionOf(operation, { id: String(row.id) });
  if (
    !(decision instanceof Promise) &&
    decision.allowed &&
    decision.predicate === undefined &&
    decision.guard === undefined
  )
    return undefined;
  return withholdUnless(operation, row, decision);
}

async function withholdUnless(
  operation: MutableOperation,
  row: Row,
  asked: Decision | Promise<Decision>,
): Promise<void> {
  const decision = await asked;
  const {
    entity,
    scope: { model, store },
  } = operation;
  const readable = decision.allowed ? await asItPasses({ model, driver: store }, entity, decision, row) : undefined;
  operation.records = [readable ?? { id: row.id }];
  if (readable !== undefined) return;
  operation.query = { ...operation.query, include: undefined };
}
