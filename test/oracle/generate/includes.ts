/** Random includes with options, sometimes invalid. */
import {
  type EntityModel,
  entityOf,
  type IncludeOptions,
  type Includes,
  keyOf,
  keysOf,
  type RelationModel,
} from "../model.ts";
import type { Making } from "./making.ts";
import { treeOf } from "./trees.ts";

/** At most as many relations as the limits allow: the order of the errors for a missing record and too many relations is open. */
const MOST = 10;

export function includesOf(making: Making): Includes {
  const includes = relationsOf(making, making.entity, 3);
  return sizeOf(includes) > MOST ? {} : includes;
}

const sizeOf = (includes: Includes): number =>
  Object.values(includes).reduce((sum, one) => sum + 1 + (one === true ? 0 : sizeOf(one.include ?? {})), 0);

function relationsOf(making: Making, entity: EntityModel, depth: number): Includes {
  const { random, model } = making;
  if (random.chance(0.01)) return { nothing: true };
  const chosen = random.some(entity.relations, 0.4).slice(0, 2);
  return Object.fromEntries(
    chosen.map((relation) => [relation.name, optionsOf(making, relation, entityOf(model, relation.target), depth)]),
  );
}

function optionsOf(making: Making, relation: RelationModel, target: EntityModel, depth: number): true | IncludeOptions {
  const { random } = making;
  if (random.chance(0.15)) return true;
  const columns = [...target.fields.map(({ name }) => name), ...keysOf(target).map(keyOf)].filter(
    (one) => one !== "deletedAt",
  );
  const isMany = relation.kind === "hasMany" || relation.kind === "manyToMany" || random.chance(0.01);
  const sort = isMany && random.chance(0.4) ? random.some(["id", ...columns], 0.3).slice(0, 2) : [];
  const select = random.chance(0.25) ? random.some(columns, 0.4) : [];
  const include = depth > 1 && random.chance(0.4) ? relationsOf(making, target, depth - 1) : {};
  return {
    ...(random.chance(0.4) && { where: treeOf(making, target, 2) }),
    ...(sort.length > 0 && { sort: sort.map((name) => (random.chance(0.5) ? `-${name}` : name)) }),
    ...(isMany && random.chance(0.5) && { limit: random.below(4) }),
    ...(isMany && random.chance(0.3) && { count: true as const }),
    ...(select.length > 0 && { select }),
    ...(Object.keys(include).length > 0 && { include }),
  };
}
