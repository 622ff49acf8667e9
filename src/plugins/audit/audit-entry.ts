import { type AnyEntity, datetime, type EntityRulesInput, entity, json, string } from "../../entity/index.ts";

/** Name of the entity that stores the entries. */
export const ENTRY = "auditEntry";

/**
 * The entity of entries. An entry is one change of one record; only the plugin writes entries, and they never change.
 */
export function auditEntry(read: EntityRulesInput["read"] | undefined): AnyEntity {
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
