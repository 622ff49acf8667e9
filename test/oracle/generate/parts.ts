/** The parts of calls: ids, queries and bodies. */
import type { World } from "../evaluate/world.ts";
import {
  type EntityModel,
  entityOf,
  type Input,
  keyOf,
  keysOf,
  type ListQuery,
  type Model,
  ownerColumn,
  type RelationModel,
  type Scalar,
} from "../model.ts";
import { valueFrom } from "./data.ts";
import { includesOf } from "./includes.ts";
import { idsOf, type Making, someId } from "./making.ts";
import { literalOf, treeOf } from "./trees.ts";

function filterOf(making: Making, entity = making.entity, depth = 3): [string, string] {
  const { random, model } = making;
  // Features are also tested on early commits, whose filters followed one reference.
  const isFar = making.features.has("queries");
  const followed = isFar ? entity.relations : keysOf(entity);
  if (depth > 0 && followed.length > 0 && random.chance(0.25)) {
    const relation = random.pick(followed);
    const [name, text] = filterOf(making, entityOf(model, relation.target), isFar ? depth - 1 : 0);
    return [`${relation.name}.${name}`, text];
  }
  if (random.chance(0.02)) return ["nothing", "1"];
  const keys = keysOf(entity);
  if (keys.length > 0 && random.chance(0.2)) {
    const key = random.pick(keys);
    return [keyOf(key), someId(making, key.target)];
  }
  const field = random.pick(entity.fields.filter(({ name }) => name !== "deletedAt"));
  const text = String(literalOf(random, field.kind));
  if (field.optional && random.chance(0.1)) return [`${field.name}_null`, String(random.chance(0.5))];
  const ops = {
    string: ["", "", "_ne", "_in", "_like", "_starts", "_ends", "_gt"],
    int: ["", "_gte", "_lt", "_ne", "_in"],
    bool: ["", "_ne"],
    datetime: ["", "_gte", "_lt", "_ne"],
    decimal: ["", "_gte", "_lt", "_ne", "_in"],
  };
  return [`${field.name}${random.pick(ops[field.kind])}`, text];
}

export function pathsOf(making: Making, entity: EntityModel, depth: number): string[] {
  const { random, model } = making;
  if (entity.relations.length === 0) return [];
  const relation = random.pick(entity.relations);
  const deeper = depth > 1 && random.chance(0.4) ? pathsOf(making, entityOf(model, relation.target), depth - 1) : [];
  return deeper.length > 0 ? deeper.map((path) => `${relation.name}.${path}`) : [relation.name];
}

export function shapeOf(making: Making): ListQuery {
  const { random, entity } = making;
  const paths = (): string[] => [
    ...new Set([...pathsOf(making, entity, 3), ...(random.chance(0.3) ? pathsOf(making, entity, 2) : [])]),
  ];
  const hasOptions = making.features.has("queries") && random.chance(0.5);
  const include = random.chance(0.4) ? (hasOptions ? includesOf(making) : paths()) : [];
  const names = [...entity.fields.map(({ name }) => name), ...keysOf(entity).map(keyOf)].filter(
    (name) => name !== "deletedAt",
  );
  const select = random.chance(0.12) ? random.some(names, 0.5) : [];
  return {
    ...(Object.keys(include).length > 0 && { include }),
    ...(select.length > 0 && { select }),
    ...(entity.softDelete && random.chance(0.15) && { deleted: random.pick(["with", "only"] as const) }),
  };
}

export function queryOf(making: Making): ListQuery {
  const { random, entity, features } = making;
  const filters = Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => filterOf(making));
  // A repeated parameter has another meaning.
  const distinct = [...new Map(filters)];
  const sortable = ["id", ...entity.fields.map(({ name }) => name), ...keysOf(entity).map(keyOf)].filter(
    (name) => name !== "deletedAt",
  );
  const sort = random.chance(0.3)
    ? random
        .some([...sortable, ...(features.has("queries") ? relatedKeys(making, entity) : [])], 0.3)
        .slice(0, 3)
        .map((name) => (random.chance(0.5) ? `-${name}` : name))
    : [];
  return {
    ...(distinct.length > 0 && { filters: distinct }),
    ...(making.features.has("queries") && random.chance(0.35) && { where: treeOf(making) }),
    ...(making.features.has("search") && random.chance(0.06) && { q: random.pick(["e", "re", "am"]) }),
    ...(sort.length > 0 && { sort }),
    ...(making.features.has("search") && random.chance(0.2) && searchFrom(making, sort)),
    ...(random.chance(0.3) && { limit: 1 + random.below(4), page: 1 + random.below(2) }),
    ...shapeOf(making),
  };
}

/** Fields of related records to sort by, including those that the caller may not know. */
function relatedKeys({ model, random }: Making, entity: EntityModel, steps = 1): string[] {
  return entity.relations.flatMap((relation) => {
    const target = entityOf(model, relation.target);
    const isMany = relation.kind === "hasMany" || relation.kind === "manyToMany" || relation.kind === "hasOne";
    if (isMany && !random.chance(0.03)) return [];
    const own = ["id", ...target.fields.map(({ name }) => name), ...keysOf(target).map(keyOf)];
    const further = steps < 3 && random.chance(0.4) ? relatedKeys({ model, random } as Making, target, steps + 1) : [];
    const names = [...random.some(own, 0.4), ...further].filter((name) => name !== "deletedAt");
    return names.map((name) => `${relation.name}.${name}`);
  });
}

/** A word search: spelled differently from the stored words, and sometimes with its own order. */
function searchFrom({ random, entity }: Making, sort: readonly string[]): ListQuery {
  const words = ["r", "re", "RED", "réd", "oak", "blue", "am", "ash", "elm", "zz", "d"];
  const q = random.some(words, 0.12).join(random.pick([" ", "-", ", "]));
  const isWordwise = entity.fields.some(({ searched }) => searched !== undefined);
  return {
    q: q === "" && !random.chance(0.1) ? random.pick(words) : q,
    ...(isWordwise && random.chance(0.3) && { sort: random.pick([["-_rank"], ["_rank"], ["-_rank", ...sort]]) }),
    ...(random.chance(0.4) && { highlight: true }),
  };
}

export function inputOf(making: Making, creates: boolean): Input {
  const { random, model, world, entity, by, features } = making;
  const data: Record<string, Scalar | string[]> = {};
  const share = creates ? 0.8 : 0.3;
  for (const field of entity.fields) {
    if (field.name === "deletedAt" || field.name === "flag" || field.name === "archived") continue;
    const required = creates && !field.optional && field.default === undefined;
    if (random.chance(required ? 0.98 : field.password ? 0.1 : share)) data[field.name] = valueFrom(random, field);
  }
  const owner = ownerColumn(entity);
  for (const relation of keysOf(entity)) {
    const key = keyOf(relation);
    const required = creates && !relation.optional && key !== owner;
    const chance = key === owner ? (creates || features.has("guesses") ? 0.25 : 0) : required ? 0.98 : share;
    if (!random.chance(chance)) continue;
    if (key === owner && creates && by !== null && random.chance(0.6)) data[key] = by.id;
    else data[key] = relation.optional && random.chance(0.15) ? null : someId(making, relation.target);
  }
  for (const relation of entity.relations)
    if (relation.kind === "manyToMany" && features.has("pairs") && random.chance(0.35)) {
      const current = pairsNow(model, world, relation);
      data[`${relation.name}Ids`] = random.some(current, 0.4);
    }
  if (random.chance(0.03)) {
    const field = random.pick(entity.fields.filter(({ kind }) => kind !== "datetime" && kind !== "decimal"));
    data[field.name] = random.pick([null, 7, "blue", true]);
  }
  if (random.chance(0.015)) data.nothing = 1;
  return data;
}

const pairsNow = (_: Model, world: World, relation: RelationModel): string[] => idsOf(world, relation.target);
