import { createModel, type EntityLike, type EntityModel } from "../../entity/index.ts";
import { entityName } from "../../kernel/index.ts";
import { entitiesOf, type JoinedEntities } from "./entities-of.ts";

interface Known {
  readonly others: readonly EntityLike[];
  readonly model: EntityModel;
}

/** Finds the model of an entity and those it is used with. It is made once for the same entities. */
export type ModelMemory = (entity: EntityLike, entities: JoinedEntities) => EntityModel;

/** A memory of the models that one joiner works with. */
export function createModelMemory(): ModelMemory {
  const models = new WeakMap<EntityLike, Known>();
  return (entity, entities) => {
    const name = entityName(entity);
    const others = entitiesOf(entities).filter((other) => entityName(other) !== name);
    const before = models.get(entity);
    if (before !== undefined && isSame(before.others, others)) return before.model;
    const model = createModel([entity, ...others]);
    models.set(entity, { others, model });
    return model;
  };
}

function isSame(one: readonly EntityLike[], other: readonly EntityLike[]): boolean {
  return one.length === other.length && one.every((like, index) => like === other[index]);
}
