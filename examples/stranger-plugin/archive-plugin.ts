// A plugin and a rule with public imports only: first-party plugins use no other interface than a third-party package.
import { action, createPluginFactory, defineRule, entityOfRecord, Reply, type Rule } from "keelson";
import { routeSegment } from "keelson/plugin";

/** Options of {@link archive}. */
export interface ArchiveOptions {
  /** The bool field that marks archived records. @default "archived" */
  readonly field: string;
}

/** The same meaning as the built-in `ownerOrAdmin`, as a third party would write it. */
export const mineOrAdmin: Rule = defineRule("mineOrAdmin", ({ user, entity }) => {
  if (user === null) return false;
  if (user.role === "admin") return true;
  return { [`${entity?.ownedBy}Id`]: user.id };
});

/** `POST /things/:id/archive` on every entity with the field; the update rule is part of the statement. */
export const archive = createPluginFactory<ArchiveOptions>(({ field = "archived" }) => ({
  id: "example/archive",
  version: "1.0.0",
  requires: ["crud"],
  setup({ entities, routes, problem }) {
    const archivable = entities.entities.filter((entity) => !entity.internal && field in entity.fields);
    if (archivable.length === 0) problem(`archive: no entity has a field "${field}"`);
    for (const entity of archivable) {
      routes.add({
        method: "POST",
        path: `/${routeSegment(entity)}/:id/archive`,
        action: "archive",
        entity,
        async handler({ scope, params }) {
          const operation = await scope.run({ kind: "update", entity, id: params.id, data: { [field]: true } });
          const [record] = operation.records;
          return new Reply(200, { success: record !== undefined && entityOfRecord(record) === entity });
        },
      });
    }
  },
}));

/** `archiveAction()` as a third party would write it: one conditional statement that contains the update rule. */
export const archiveLikeOurs = action()
  .onResource()
  .path("/archive")
  .handler(async ({ scope, entity, record }) => {
    const when = { archived: { ne: true } };
    await scope.run({ kind: "update", entity, id: record.id, set: { archived: true }, when });
    return { success: true };
  });
