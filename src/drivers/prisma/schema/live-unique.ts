import type { AnyEntity, Provider } from "../../../entity/index.ts";
import { liveUniqueName } from "../../sql/index.ts";

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

/** The features that Prisma's generator has to be told of. */
export function previewFeatures(entities: readonly AnyEntity[], provider: Provider): readonly string[] {
  return entities.some((entity) => isLiveUnique(entity, provider)) ? [PREVIEW_FEATURE] : [];
}
