import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { EntityNotFoundError } from "../../kernel/index.ts";
import type { EntityRef } from "../condition/where.ts";

/** The name an entity is known by. */
export function entityName(entity: EntityRef): string {
  if (typeof entity === "string") return entity;
  return "name" in entity ? entity.name : entity.build().name;
}

/**
 * The app's own definition. By name: a builder makes a new definition on every `build()`.
 * @throws EntityNotFoundError
 */
export function findEntity(model: EntityModel, entity: EntityRef): AnyEntity {
  return foundEntity(entity, model.get(entityName(entity)));
}

/** @throws EntityNotFoundError when nothing was found */
export function foundEntity<T>(entity: EntityRef, found: T | undefined): T {
  if (found === undefined) throw new EntityNotFoundError(`There is no entity "${entityName(entity)}"`);
  return found;
}
