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

/** How the names of indexes over live records end. */
export const LIVE_SUFFIX = "_live_key";

/** The name of the index that keeps columns unique among live records. */
export function liveUniqueName(entity: AnyEntity, columns: readonly string[]): string {
  return constraintName(entity, columns, LIVE_SUFFIX);
}

/** The names of all of them. */
export function liveUniqueNames(model: EntityModel): readonly string[] {
  return model.entities.flatMap((entity) =>
    entity.softDelete === undefined
      ? []
      : printedUniqueKeys(model, entity).map((columns) => liveUniqueName(entity, columns)),
  );
}

/** PostgreSQL's limit on names; Prisma shortens those of its constraints, keeping the suffix. */
export const MAX_NAME = 63;

/** The name that Prisma gives to a constraint. */
export function constraintName(entity: AnyEntity, columns: readonly string[], suffix: string): string {
  return shortName([entity.name, ...columns].join("_"), suffix);
}

/** A name of which the end stays when it is too long. */
export function shortName(start: string, suffix: string): string {
  return `${start.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}
