import type { EntityModel } from "../../../entity/index.ts";

const isolatedOf = new WeakMap<EntityModel, ReadonlySet<string>>();

/** Names of the entities that have no relation to any, and to which none has one; worked out once per model. */
export function isolatedEntities(model: EntityModel): ReadonlySet<string> {
  const known = isolatedOf.get(model);
  if (known !== undefined) return known;
  const relations = model.entities.flatMap((entity) => model.relationsOf(entity));
  const related = new Set(relations.flatMap(({ source, target }) => [source.name, target.name]));
  const isolated = new Set(model.entities.map(({ name }) => name).filter((name) => !related.has(name)));
  isolatedOf.set(model, isolated);
  return isolated;
}
