import type { AnyEntity, EntityModel, Provider } from "../../../entity/index.ts";
import { constraintName } from "./constraint-name.ts";
import { printedUniqueKeys } from "./unique-keys.ts";

/** How names of such indexes end. */
export const LIVE_SUFFIX = "_live_key";
/** Prisma's name for indexes over some of the rows. */
const PREVIEW_FEATURE = "partialIndexes";

/** Whether unique values of an entity hold among its live records only; MySQL has no indexes over some of the rows. */
function isLiveUnique({ softDelete }: AnyEntity, provider: Provider): boolean {
  return softDelete !== undefined && provider !== "mysql";
}

/**
 * What a unique index of an entity says besides its columns; undefined when it is about all records. It has a name of its
 * own, so that the index over all records can take its place, and the other way round.
 */
export function liveUnique(entity: AnyEntity, columns: readonly string[], provider: Provider): string | undefined {
  const { softDelete } = entity;
  if (softDelete === undefined || !isLiveUnique(entity, provider)) return undefined;
  return `where: { ${softDelete.field}: null }, map: "${liveUniqueName(entity, columns)}"`;
}

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

/** The features that Prisma's generator has to be told of. */
export function previewFeatures(entities: readonly AnyEntity[], provider: Provider): readonly string[] {
  return entities.some((entity) => isLiveUnique(entity, provider)) ? [PREVIEW_FEATURE] : [];
}
