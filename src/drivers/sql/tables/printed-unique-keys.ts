import type { AnyEntity, ColumnDefinition, EntityModel } from "../../../entity/index.ts";

/** Whether a key leads to a record that is followed back by a single one: then no two records may share it. */
function isFollowedBySingle(model: EntityModel, entity: AnyEntity, { role, relation }: ColumnDefinition): boolean {
  if (role !== "foreignKey") return false;
  const key = model.relation(entity, relation as string);
  if (key?.inverse === undefined || key.remote !== undefined) return false;
  return model.relation(key.target, key.inverse)?.type === "hasOne";
}

/** Columns that are unique on their own, the id aside. */
export function uniqueColumnsOf(model: EntityModel, entity: AnyEntity): readonly string[] {
  return Object.values(entity.columns)
    .filter((column) => column.role !== "id" && (column.unique || isFollowedBySingle(model, entity, column)))
    .map(({ name }) => name);
}

/** Every list of columns that the database keeps unique, the id aside. */
export function printedUniqueKeys(model: EntityModel, entity: AnyEntity): readonly (readonly string[])[] {
  return [...uniqueColumnsOf(model, entity).map((name) => [name]), ...entity.uniques];
}
