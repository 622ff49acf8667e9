import { type AnyEntity, type EntityLike, resolveEntity } from "../../entity/index.ts";

/** Names of the relations of an entity that are `.remote()`, as declared. */
export function getRemoteRelationFields(entity: EntityLike): string[] {
  const { relations } = resolveEntity(entity) as AnyEntity;
  return Object.entries(relations).flatMap(([name, { remote }]) => (remote === undefined ? [] : [name]));
}

/** Whether an entity has relations that are `.remote()`. */
export function hasRemoteRelations(entity: EntityLike): boolean {
  return getRemoteRelationFields(entity).length > 0;
}
