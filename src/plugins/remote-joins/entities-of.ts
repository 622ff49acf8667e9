import type { EntityLike } from "../../entity/index.ts";
import { entityName } from "../../gate/index.ts";

/** Entities in a list, or by name: definitions, or builders that are not built yet. */
export type JoinedEntities =
  | readonly EntityLike[]
  | ReadonlyMap<string, EntityLike>
  | Readonly<Record<string, EntityLike>>;

/** The entities as they were given; of two with one name the last counts. */
export function entitiesOf(entities: JoinedEntities): EntityLike[] {
  const all: Iterable<EntityLike> =
    entities instanceof Map ? entities.values() : Array.isArray(entities) ? entities : Object.values(entities);
  return [...new Map([...all].map((like) => [entityName(like), like])).values()];
}
