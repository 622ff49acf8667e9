import { type AnyEntity, createModel, type EntityModel } from "../../entity/index.ts";
import type { Keelson, RouteListing } from "../../index.ts";

/** What an app is made of, as data. */
export interface AppParts {
  /** All entities, those of plugins included. */
  readonly model: EntityModel;
  readonly routes: readonly RouteListing[];
}

export function partsOf({ entities, routes }: Pick<Keelson, "entities" | "routes">): AppParts {
  return { model: createModel(Object.values(entities) as readonly AnyEntity[]), routes };
}
