import { type AnyEntity, type ColumnDefinition, type EntityModel, MAX_NAME } from "../../../entity/index.ts";

/** Whether a hasOne relation uses this key from the other side: no two records may then share it. */
function isFollowedBySingle(model: EntityModel, entity: AnyEntity, { role, relation }: ColumnDefinition): boolean {
  if (role !== "foreignKey") return false;
  const key = model.relation(entity, relation as string);
  if (key?.inverse === undefined || key.remote !== undefined) return false;
  return model.relation(key.target, key.inverse)?.type === "hasOne";
}

/** Columns that are unique by themselves, except the id. */
export function uniqueColumnsOf(model: EntityModel, entity: AnyEntity): readonly string[] {
  return Object.values(entity.columns)
    .filter((column) => column.role !== "id" && (column.unique || isFollowedBySingle(model, entity, column)))
    .map(({ name }) => name);
}

/** All combinations of columns that are unique in the database, except the id. */
export function printedUniqueKeys(model: EntityModel, entity: AnyEntity): readonly (readonly string[])[] {
  return [...uniqueColumnsOf(model, entity).map((name) => [name]), ...entity.uniques];
}

/** The suffix of the names of indexes over live records. */
export const LIVE_SUFFIX = "_live_key";

/** The name of the unique index over live records. */
export function liveUniqueName(entity: AnyEntity, columns: readonly string[]): string {
  return constraintName(entity, columns, LIVE_SUFFIX);
}

/** The names of all unique indexes over live records. */
export function liveUniqueNames(model: EntityModel): readonly string[] {
  return model.entities.flatMap((entity) =>
    entity.softDelete === undefined
      ? []
      : printedUniqueKeys(model, entity).map((columns) => liveUniqueName(entity, columns)),
  );
}

/** The name that Prisma gives to a constraint. Prisma shortens a name that is too long, keeping its suffix. */
export function constraintName(entity: AnyEntity, columns: readonly string[], suffix: string): string {
  return shortName([entity.name, ...columns].join("_"), suffix);
}

/** Shortens a name that is too long, keeping its suffix. */
export function shortName(start: string, suffix: string): string {
  return `${start.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}
