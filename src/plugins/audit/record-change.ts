import type { AnyEntity } from "../../entity/index.ts";
import type { Row } from "../../kernel/index.ts";
import type { AuditOperation } from "./audit-entry.ts";
import { type Change, changeOf } from "./change-of.ts";

/** One record, and what became of it. */
export interface RecordChange {
  readonly operation: AuditOperation;
  readonly entity: string;
  readonly recordId: string;
  readonly change: Change;
}

/** What became of a record, as a list of one; of none when nothing that is kept has changed. */
export function recordChange(
  operation: AuditOperation,
  entity: AnyEntity,
  before: Row | null,
  after: Row | null,
): readonly RecordChange[] {
  const change = changeOf(entity, before, after);
  const recordId = (after ?? before)?.id as string;
  return change === undefined ? [] : [{ operation, entity: entity.name, recordId, change }];
}
