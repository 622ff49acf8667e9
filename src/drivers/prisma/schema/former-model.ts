import {
  type AnyEntity,
  createModel,
  type EntityLike,
  type EntityModel,
  type RelationDefinition,
} from "../../../entity/index.ts";

/** Which of the former names a model is to have. */
export interface FormerNames {
  readonly entities: boolean;
  readonly relations: boolean;
}

/** A model with the names that its entities and relations had before `.renamedFrom()`; for the names of link tables. */
export function formerModel(model: EntityModel, former: FormerNames): EntityModel {
  const nameOf = ({ name, renamedFrom }: Pick<AnyEntity, "name" | "renamedFrom">): string =>
    (former.entities ? renamedFrom : undefined) ?? name;
  const relationName = (name: string, { renamedFrom }: RelationDefinition): string =>
    (former.relations ? renamedFrom : undefined) ?? name;

  function formerRelation(entity: AnyEntity, name: string, relation: RelationDefinition): RelationDefinition {
    const target = model.relation(entity, name)?.target as AnyEntity;
    const { inverse } = relation;
    const other = inverse === undefined ? undefined : target.relations[inverse];
    return {
      ...relation,
      target: relation.target && (() => ({ name: nameOf(target) }) as unknown as EntityLike),
      ...(other === undefined ? {} : { inverse: relationName(inverse as string, other) }),
    };
  }

  return createModel(
    model.entities.map((entity) => {
      const local = Object.entries(entity.relations).filter(([, { remote }]) => remote === undefined);
      const relations = local.map(
        ([name, relation]) => [relationName(name, relation), formerRelation(entity, name, relation)] as const,
      );
      return { ...entity, name: nameOf(entity), relations: Object.fromEntries(relations) };
    }),
  );
}
