import { isDeepStrictEqual } from "node:util";
import { type AnyEntity, type ColumnDefinition, datetime, entity, json, string } from "../../entity/index.ts";
import { type Driver, defaultIds, type OperationScope, type Row } from "../../gate/index.ts";
import type { AuditOptions } from "./audit-options.ts";

/** Name of the entity that entries are kept in. */
export const ENTRY = "auditEntry";

/** What a write was, in an entry. */
export type AuditOperation = "create" | "update" | "delete" | "link" | "unlink";

/** One change of one record. Only the plugin writes entries, and an entry is never changed. */
export function auditEntry(read: AuditOptions["read"]): AnyEntity {
  const entry = entity(ENTRY, {
    at: datetime.describe("When the change was made"),
    actorKind: string.describe("user, anonymous or system; unknown for services of the whole app"),
    actorId: string.optional().describe("The user"),
    operation: string.describe("create, update, delete, link or unlink"),
    action: string.optional().describe("The action of the route; none for work in the process"),
    entity: string.describe("The record's entity"),
    recordId: string,
    requestId: string.optional(),
    changed: json.describe("Names of the fields, or of the relation"),
    before: json.optional().describe("Values that were replaced"),
    after: json.optional().describe("Values that took their place"),
  })
    .timestamps(false)
    .index(["entity", "recordId", "at"])
    .index(["actorId", "at"])
    .index(["at"]);
  return (read === undefined ? entry.internal() : entry.rules({ read })).build();
}

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

/** The caller on whose behalf something is written; undefined for app-wide services, which act for no caller. */
export type Actor = Pick<OperationScope, "principal" | "requestId" | "exchange" | "now"> | undefined;

/**
 * Stores the entries of changes.
 * @param driver of the transaction that the changes are made in
 */
export async function keepEntries(driver: Driver, actor: Actor, changes: readonly RecordChange[]): Promise<void> {
  const entries = changes.map((change) => entryOf(actor, change));
  if (entries.length === 1) await driver.create(ENTRY, entries[0] as Row);
  else if (entries.length > 1) await driver.createMany(ENTRY, entries);
}

function entryOf(actor: Actor, { operation, entity, recordId, change }: RecordChange): Row {
  return {
    id: defaultIds.next(), // in the order of their writing, whatever ids the app makes
    at: actor?.now() ?? new Date(),
    actorKind: actor?.principal.kind ?? "unknown",
    actorId: actor?.principal.user?.id ?? null,
    operation,
    action: actor?.exchange?.route?.action ?? null,
    entity,
    recordId,
    requestId: actor?.requestId ?? null,
    ...change,
  };
}
