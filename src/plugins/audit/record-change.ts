import { isDeepStrictEqual } from "node:util";
import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";
import type { AuditOperation } from "./audit-entry.ts";

/** What a write did to a record, as it may be kept. */
interface Change {
  readonly changed: readonly string[];
  readonly before: Row | null;
  readonly after: Row | null;
}

/** Columns that every write changes, and columns that only help to find values. They are not part of a change. */
const SILENT: ReadonlySet<ColumnDefinition["role"]> = new Set(["id", "updatedAt", "version", "blindIndex"]);

/**
 * The change of a record; null on a side where it did not exist. It does not depend on the caller: of password, omitted
 * and encrypted fields it keeps only that they changed. A copy of their values would outlive the original, and key
 * rotation would have to include it.
 * @returns undefined when nothing that is kept has changed
 */
function changeOf(entity: AnyEntity, before: Row | null, after: Row | null): Change | undefined {
  const changed: string[] = [];
  const sides = { before: {} as Row, after: {} as Row };
  for (const column of Object.values(entity.columns)) {
    const { name, role } = column;
    if (SILENT.has(role) || (role === "createdAt" && before === null)) continue; // the entry has the time
    const [old, fresh] = [before?.[name] ?? null, after?.[name] ?? null];
    if (isDeepStrictEqual(old, fresh)) continue;
    changed.push(name);
    if (isWithheld(entity, column)) continue;
    sides.before[name] = plain(column, old);
    sides.after[name] = plain(column, fresh);
  }
  if (changed.length === 0 && before !== null && after !== null) return undefined;
  return { changed, before: before && sides.before, after: after && sides.after };
}

function isWithheld({ hidden }: AnyEntity, { name, field }: ColumnDefinition): boolean {
  return hidden.includes(name) || field?.encrypted !== undefined;
}

function plain({ kind }: ColumnDefinition, value: unknown): unknown {
  return value === null || kind.toWire === undefined ? value : kind.toWire(value);
}

/** A record and its change. */
export interface RecordChange {
  readonly operation: AuditOperation;
  readonly entity: string;
  readonly recordId: string;
  readonly change: Change;
}

/** The change of a record, as a list of one; an empty list when nothing that is kept has changed. */
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
