import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import { constraintName } from "./constraint-name.ts";
import { printedUniqueKeys } from "./printed-unique-keys.ts";

/** How names of such indexes end. */
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
