import { type Driver, defaultIds, type OperationScope, type Row } from "../../gate/index.ts";
import { ENTRY } from "./audit-entry.ts";
import type { RecordChange } from "./record-change.ts";

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
