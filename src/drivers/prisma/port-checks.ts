import type { AnyEntity, EntityModel, ResolvedRelation } from "../../entity/index.ts";
import { BadRequestError, type Condition, isAlways, soleId } from "../../kernel/index.ts";
import type { EntityPlan } from "./entity-plan.ts";

/** @throws BadRequestError when a condition asks for no single id */
export function oneRecord({ entity }: EntityPlan, condition: Condition): Condition {
  if (soleId(condition) === undefined)
    throw new BadRequestError(`where on ${entity.name}: changing one record takes its id`);
  return condition;
}

/** @throws BadRequestError when a condition holds for every record */
export function someRecords({ entity }: EntityPlan, condition: Condition): Condition {
  if (isAlways(condition))
    throw new BadRequestError(`where on ${entity.name}: changing several records takes a condition`);
  return condition;
}

/** @throws BadRequestError for what is no manyToMany relation */
export function pairsOf(model: EntityModel, entity: AnyEntity, name: string): ResolvedRelation {
  const relation = model.relation(entity, name);
  if (relation?.type !== "manyToMany") throw new BadRequestError(`${entity.name}.${name} is no manyToMany relation`);
  return relation;
}
