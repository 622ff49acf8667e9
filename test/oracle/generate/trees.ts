/** Random conditions as JSON, sometimes invalid. */
import {
  type EntityModel,
  entityOf,
  type FieldModel,
  type Json,
  type JsonObject,
  keyOf,
  keysOf,
  type Scalar,
} from "../model.ts";
import type { Random } from "../random.ts";
import { MOMENTS, PRICES } from "./data.ts";
import { type Making, someId } from "./making.ts";
import { TEXTS } from "./model.ts";

const OPERATORS: { readonly [K in FieldModel["kind"]]: readonly string[] } = {
  string: ["eq", "ne", "in", "nin", "like", "starts", "ends", "gt", "lte"],
  int: ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"],
  bool: ["eq", "ne"],
  datetime: ["eq", "ne", "gt", "lte", "in"],
  decimal: ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"],
};

export function literalOf(random: Random, kind: FieldModel["kind"]): Scalar {
  if (kind === "int") return random.below(4);
  if (kind === "bool") return random.chance(0.5);
  return random.pick<string>({ string: TEXTS, decimal: PRICES, datetime: MOMENTS }[kind]);
}

function columnOf(making: Making, entity: EntityModel): JsonObject {
  const { random } = making;
  const keys = keysOf(entity);
  if (random.chance(0.02)) return { nothing: 1 };
  if (random.chance(0.15)) {
    const key = keys.length > 0 && random.chance(0.7) ? random.pick(keys) : undefined;
    const id = (): string => someId(making, key?.target ?? entity.name);
    const name = key === undefined ? "id" : keyOf(key);
    return { [name]: random.pick<() => Json>([id, () => [id(), id()], () => ({ ne: id() })])() };
  }
  const field = random.pick(entity.fields);
  if (field.name === "deletedAt" || (field.optional && random.chance(0.2)))
    return { [field.name]: random.pick<Json>([null, { null: random.chance(0.5) }, { ne: null }]) };
  const value = (): Json => (random.chance(0.02) ? random.pick<Json>(["x", true]) : literalOf(random, field.kind));
  if (random.chance(0.25)) return { [field.name]: value() };
  if (random.chance(0.15)) return { [field.name]: [value(), ...(random.chance(0.2) ? [null] : []), value()] };
  const tests = Array.from({ length: random.chance(0.15) ? 2 : 1 }, () => {
    const op = random.pick(OPERATORS[field.kind]);
    return [op, op === "in" || op === "nin" ? [value(), value()] : value()] as const;
  });
  return { [field.name]: Object.fromEntries(tests) };
}

function relatedOf(making: Making, entity: EntityModel, depth: number): JsonObject {
  const { random, model } = making;
  const relation = random.pick(entity.relations);
  const target = entityOf(model, relation.target);
  const inner = (): Json => (random.chance(0.15) ? {} : treeOf(making, target, depth - 1));
  const isMany = relation.kind === "hasMany" || relation.kind === "manyToMany";
  if (!isMany && random.chance(0.15)) return { [relation.name]: null };
  if (random.chance(isMany ? 0.3 : 0.97)) return { [relation.name]: inner() };
  const words = random.chance(0.2) ? (["every", "some"] as const) : [random.pick(["some", "none", "every"] as const)];
  return { [relation.name]: Object.fromEntries(words.map((word) => [word, inner()])) };
}

export function treeOf(making: Making, entity = making.entity, depth = 3): JsonObject {
  const { random } = making;
  const roll = random.below(10);
  if (depth > 1 && roll < 3) {
    const parts = (): Json => Array.from({ length: random.below(3) }, () => treeOf(making, entity, depth - 1));
    if (random.chance(0.35)) return { not: random.chance(0.8) ? treeOf(making, entity, depth - 1) : parts() };
    return { [random.pick(["and", "or", "or"])]: parts() };
  }
  if (depth > 1 && roll < 6 && entity.relations.length > 0) return relatedOf(making, entity, depth);
  return { ...columnOf(making, entity), ...(random.chance(0.2) && columnOf(making, entity)) };
}
