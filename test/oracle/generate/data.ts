/** Random rows and pairs for a model, and values of its fields. */

import { TENANT, TENANT_FIELD } from "../companions.ts";
import { holds } from "../evaluate/conditions.ts";
import { collides } from "../evaluate/input.ts";
import { type World, withPairs, withRow, worldOf } from "../evaluate/world.ts";
import {
  type Data,
  type EntityModel,
  type FieldModel,
  keyOf,
  keysOf,
  type Model,
  pairsOf,
  type Row,
  type Scalar,
  withComputed,
} from "../model.ts";
import type { Random } from "../random.ts";
import { TEXTS } from "./model.ts";

const MORE_TEXTS = [...TEXTS, "oak", "elm", "ash", "fir"];

/** Texts of several words. */
const PHRASES = ["red oak", "blue ash", "oak reddish", "amber blue red", "elm-blue", "re ash"] as const;

/** How often the words repeat. */
const LENGTHS = [1, 5, 10, 30] as const;

export const PRICES = ["0.10", "1.25", "9.99", "10.00", "-2.50"] as const;
/** At the boundaries of days, weeks, quarters and years, in some zones, and around clock changes. */
export const MOMENTS = [
  ...["2026-01-31T23:30:00.000Z", "2026-02-01T00:15:00.000Z", "2025-12-31T18:45:00.000Z", "2026-01-05T04:59:59.999Z"],
  ...["2026-03-29T00:59:59.999Z", "2026-03-29T01:00:00.000Z", "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"],
  ...["2024-02-29T12:00:00.000Z", "2026-04-01T03:00:00.000Z"],
] as const;

export function valueFrom(random: Random, field: FieldModel): Scalar {
  if (field.name === TENANT_FIELD) return TENANT;
  if (field.optional && random.chance(0.2)) return null;
  if (field.password) return random.pick(["password1", "password2"]);
  if (field.long) return `${random.pick(TEXTS)} `.repeat(random.pick(LENGTHS));
  if (field.kind === "int") return random.below(4);
  if (field.kind === "bool") return random.chance(0.5);
  if (field.kind === "decimal") return random.pick(PRICES);
  if (field.name === "at") return random.pick(MOMENTS);
  if (field.kind === "datetime") return random.chance(0.25) ? "2026-01-02T03:04:05.000Z" : null;
  if (field.searched !== undefined && random.chance(0.5)) return random.pick(PHRASES);
  return random.pick(field.unique ? MORE_TEXTS : TEXTS);
}

function rowOf(random: Random, model: Model, world: World, entity: EntityModel, id: string): Row | undefined {
  const row: Record<string, Scalar> = { id };
  for (const field of entity.fields) {
    if (field.computedFrom !== undefined) continue;
    const value = valueFrom(random, field);
    row[field.name] = field.omit || field.encrypted || !field.password || value === null ? value : String(value);
  }
  for (const relation of keysOf(entity)) {
    const ids = [...(world.rows.get(relation.target)?.keys() ?? [])];
    if (relation.optional && (ids.length === 0 || random.chance(0.3))) row[keyOf(relation)] = null;
    else if (ids.length === 0) return undefined;
    else row[keyOf(relation)] = random.pick(ids);
  }
  const fits = entity.validators.every((one) => holds(model, world, entity, row, one.holds, null));
  const isFree = !collides(world, entity, row) && !keysCollide(world, entity, row);
  return fits && isFree ? withComputed(entity, row) : undefined;
}

/** The tables differ in whether deleted rows keep one-to-one keys taken; these rows avoid both cases. */
function keysCollide(world: World, entity: EntityModel, row: Row): boolean {
  const keys = entity.relations.filter((one) => one.unique).map(keyOf);
  return [...(world.rows.get(entity.name)?.values() ?? [])].some((other) =>
    keys.some((key) => row[key] !== null && other[key] === row[key]),
  );
}

export function makeData(random: Random, model: Model): Data {
  let world = worldOf(model, { rows: {}, pairs: {} });
  for (const entity of model.entities) {
    const count = entity.name === "user" ? 4 : 3 + random.below(4);
    for (let at = 1; at <= count; at += 1) {
      const id = `${entity.name[0]}${at}`;
      for (let tries = 0; tries < 8; tries += 1) {
        const row = rowOf(random, model, world, entity, id);
        if (row === undefined) continue;
        world = withRow(world, entity.name, row);
        break;
      }
    }
  }
  for (const entity of model.entities)
    for (const relation of entity.relations) {
      if (relation.kind !== "manyToMany") continue;
      const { at, flipped } = pairsOf(model, entity, relation);
      if (flipped) continue;
      const targets = [...(world.rows.get(relation.target)?.keys() ?? [])];
      const sources = [...(world.rows.get(entity.name)?.keys() ?? [])];
      const pairs = sources.flatMap((source) => random.some(targets, 0.3).map((target) => `${source}|${target}`));
      world = withPairs(world, at, new Set(pairs));
    }
  return {
    rows: Object.fromEntries([...world.rows].map(([name, table]) => [name, [...table.values()]])),
    pairs: Object.fromEntries([...world.pairs].map(([at, pairs]) => [at, [...pairs]])),
  };
}
