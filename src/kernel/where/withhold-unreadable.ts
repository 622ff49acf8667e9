import type { MutableOperation } from "../operations/new-operation.ts";
import type { Row } from "../ports/driver.ts";
import { allOf, compileWhere } from "./condition.ts";
import { matchesAlone } from "./matches.ts";

/**
 * A write must not be a way to read: who may not read the record they wrote is told its id and nothing else
 * (security.md item 1).
 */
export async function withholdUnreadable(operation: MutableOperation): Promise<void> {
  const row = operation.records[0];
  if (row !== undefined && !(await mayRead(operation, row))) operation.records = [{ id: row.id }];
}

async function mayRead({ entity, scope }: MutableOperation, row: Row): Promise<boolean> {
  const { allowed, predicate } = await scope.readDecision(entity);
  if (!allowed || predicate === undefined) return allowed;
  const alone = matchesAlone(compileWhere(scope.model, entity, predicate), row);
  return alone ?? (await scope.store.findOne(entity, allOf({ id: row.id }, predicate), { select: ["id"] })) !== null;
}
