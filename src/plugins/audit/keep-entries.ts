import { isDeepStrictEqual } from "node:util";
import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import {
  type AuditLog,
  type ChangeKind,
  type Driver,
  defaultIds,
  type OperationScope,
  type RecordChange,
  type Row,
} from "../../gate/index.ts";
import { ENTRY } from "./audit-entry.ts";

/** The change of a record, as an entry stores it. */
interface Change {
  readonly changed: readonly string[];
  readonly before: Row | null;
  readonly after: Row | null;
}

/** Columns that every write changes, and columns that only help to find values. They are not part of a change. */
const SILENT: ReadonlySet<ColumnDefinition["role"]> = new Set(["id", "updatedAt", "version", "blindIndex", "words"]);

/**
 * The change of a record; null for a side on which it did not exist. It does not depend on the caller. For password,
 * omitted and encrypted fields, only their names are stored: copied values would outlive the original, and key rotation
 * would have to include them.
 * @returns undefined if no audited column has changed
 */
function changeOf(entity: AnyEntity, before: Row | null, after: Row | null): Change | undefined {
  const changed: string[] = [];
  const sides = { before: {} as Row, after: {} as Row };
  for (const column of Object.values(entity.columns)) {
    const { name, role } = column;
    if (SILENT.has(role) || (role === "createdAt" && before === null)) continue; // the entry has its own time
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

/**
 * Stores an entry for each change of an audited column.
 * @param driver of the transaction that contains the changes
 */
export async function keepEntries(changes: readonly RecordChange[], driver: Driver): Promise<void> {
  const entries = changes.flatMap(entryOf);
  if (entries.length === 1) await driver.create(ENTRY, entries[0] as Row);
  else if (entries.length > 1) await driver.createMany(ENTRY, entries);
}

/** Stores an entry about an event that did not change a record. */
export async function noteEntry(
  driver: Driver,
  { principal, requestId, app }: OperationScope,
  entry: Parameters<AuditLog["note"]>[1],
): Promise<void> {
  await driver.create(ENTRY, {
    ...entry,
    id: defaultIds.next(),
    at: app.now(),
    actorKind: principal.kind,
    actorId: principal.user?.id ?? null,
    requestId,
    changed: [],
    before: null,
    after: null,
  });
}

function entryOf({ entity, kind, id, before, after, relation, cause }: RecordChange): readonly Row[] {
  const change = relation === undefined ? changeOf(entity, before, after) : changeOfPairs(relation, before, after);
  if (change === undefined) return [];
  const entry = {
    id: defaultIds.next(), // sorted by time, independent of the app's own ids
    at: cause.at,
    actorKind: cause.principal?.kind ?? "unknown",
    actorId: cause.principal?.user?.id ?? null,
    operation: kind satisfies ChangeKind,
    action: cause.action ?? null,
    entity: entity.name,
    recordId: id,
    requestId: cause.requestId ?? null,
  };
  return [{ ...entry, ...change }];
}

function changeOfPairs(relation: string, before: Row | null, after: Row | null): Change {
  const side = (row: Row | null): Row | null => row && { [relation]: row[relation] };
  return { changed: [relation], before: side(before), after: side(after) };
}
