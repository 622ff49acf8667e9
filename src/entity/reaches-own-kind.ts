import type { AnyEntity } from "./entity-definition.ts";
import type { EntityModel } from "./model.ts";

/** Whether deleting a record may be kept from, or do something to, others of its kind, by what refers to what. */
export function reachesOwnKind(model: EntityModel, entity: AnyEntity): boolean {
  const referring = (target: AnyEntity) =>
    model.entities.flatMap((source) =>
      model.relationsOf(source).filter((one) => one.type === "belongsTo" && !one.remote && one.target === target),
    );
  const deleted = new Set([entity]);
  for (const target of deleted)
    for (const { source, onDelete } of referring(target)) {
      if (source === entity) return true;
      if (onDelete === "cascade") deleted.add(source);
    }
  return false;
}
