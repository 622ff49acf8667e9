/** Random writes of related records, as parts of a body. */
import { uniqueFields } from "../evaluate/combined.ts";
import { relatedTo } from "../evaluate/conditions.ts";
import { evaluate } from "../evaluate/evaluate.ts";
import { rowOf, rowsOf } from "../evaluate/world.ts";
import {
  type Call,
  type EntityModel,
  entityOf,
  type Input,
  type Json,
  type JsonObject,
  type RelationModel,
  type Step,
} from "../model.ts";
import { type Making, principalsOf, someId } from "./making.ts";
import { inputOf, pathsOf } from "./parts.ts";
import { treeOf } from "./trees.ts";

/** Retries until a step succeeds: most bodies contain something that some rule refuses. */
const TRIES = 8;

export function nestedStep(making: Making, uid: string): Step {
  const { random, model, world } = making;
  for (let tries = 1; ; tries += 1) {
    const there = { ...making, entity: random.pick(model.entities), by: random.pick(principalsOf(making.features)) };
    const { name } = there.entity;
    const id = someId(there, name);
    const include = random.chance(0.3) ? pathsOf(there, there.entity, 2) : [];
    const also = include.length > 0 ? { include } : {};
    const creates = random.chance(0.4) && rowsOf(world, name).length < 12;
    const call: Call = creates
      ? { do: "create", data: nestedInput(there, true), ...also }
      : { do: "update", id, data: nestedInput(there, false, id), ...also };
    const isClient = include.length === 0 && random.chance(0.3);
    const surface = isClient ? (there.by === null ? "handler" : "client") : "http";
    const step: Step = { uid, by: there.by, on: name, surface, call };
    if (tries === TRIES || random.chance(0.05) || succeeds(making, step)) return step;
  }
}

export const succeeds = ({ model, world }: Making, step: Step): boolean =>
  evaluate(model, world, step).some(({ status }) => status < 300);

/** @param id of the record that is changed; undefined for a new one */
export function nestedInput(making: Making, creates: boolean, id?: string, depth = 2, without?: string): Input {
  const { random, entity } = making;
  const data: Record<string, Input[string]> = { ...inputOf(making, creates) };
  const possible = entity.relations.filter((one) => one.name !== without);
  const chosen = possible.length === 0 ? [] : random.some(possible, 0.35).slice(0, 2);
  if (chosen.length === 0 && depth === 2 && possible.length > 0) chosen.push(random.pick(possible));
  for (const relation of chosen) {
    const words = wordsOf(making, relation, id, depth);
    // The documents do not define a record that is among its own related records, before or after the change.
    if (id !== undefined && JSON.stringify(words).includes(`"${id}"`)) continue;
    data[relation.name] = words;
    if (random.chance(0.97)) delete data[`${relation.name}Id`];
    if (random.chance(0.8)) delete data[`${relation.name}Ids`];
  }
  return data;
}

function wordsOf(making: Making, relation: RelationModel, id: string | undefined, depth: number): JsonObject {
  const { random } = making;
  const target = entityOf(making.model, relation.target);
  const isToOne = relation.kind === "belongsTo" || relation.kind === "selfRef";
  if (isToOne) {
    const words = id === undefined ? (["create", "connect", ...FOUND, "update"] as const) : TO_ONE;
    const word = random.pick(words);
    return {
      [word]: oneOf(making, target, relation, word, id, depth),
      ...(random.chance(0.02) && { connect: someId(making, target.name) }),
    };
  }
  if (relation.kind === "hasOne") {
    const word = random.pick(id === undefined ? (["create", "connect", ...FOUND] as const) : HAS_ONE);
    return { [word]: oneOf(making, target, relation, word, id, depth) };
  }
  const isPairs = relation.kind === "manyToMany";
  const all = isPairs ? PAIRS : id === undefined ? (["create", "create", "connect", ...FOUND] as const) : HAS_MANY;
  const words = [...new Set([random.pick(all), ...(random.chance(0.2) ? [random.pick(all)] : [])])];
  return Object.fromEntries(
    words.map((word) => {
      const items = Array.from({ length: word === "set" ? random.below(3) : 1 + random.below(2) }, () =>
        oneOf(making, target, relation, word, id, depth),
      );
      const isAlone = word !== "set" && items.length === 1 && random.chance(0.5);
      return [
        word,
        isAlone ? (items[0] as Json) : [...new Map(items.map((one) => [JSON.stringify(one), one])).values()],
      ];
    }),
  );
}

const FOUND = ["connectOrCreate", "connectOrCreate"] as const;
const TO_ONE = ["create", "connect", ...FOUND, "disconnect", "update", "update"] as const;
const HAS_ONE = ["create", "connect", ...FOUND, "disconnect", "update", "delete"] as const;
const HAS_MANY = [
  "create",
  "create",
  "connect",
  ...FOUND,
  "disconnect",
  "set",
  "update",
  "update",
  "upsert",
  "delete",
] as const;
const PAIRS = ["create", "connect", "connect", ...FOUND, "disconnect", "set"] as const;

/** One item of a keyword: what is created or changed, or an id. */
function oneOf(
  making: Making,
  target: EntityModel,
  relation: RelationModel,
  word: string,
  id: string | undefined,
  depth: number,
): Json {
  const { random } = making;
  const isMany = relation.kind === "hasMany" || relation.kind === "manyToMany";
  const there = { ...making, entity: target };
  // The key to the parent record is set automatically; the inverse relation is left out.
  const back =
    relation.kind === "hasMany" || relation.kind === "hasOne"
      ? relation.inverse
      : backTo(target, relation, making.entity);
  const body = (creates: boolean, of?: string): JsonObject => {
    const data =
      depth > 1 && random.chance(0.3) ? nestedInput(there, creates, of, depth - 1, back) : inputOf(there, creates);
    const { [`${back}Id`]: _, ...rest } = data;
    return rest as JsonObject;
  };
  const related = (): string => {
    const row = id === undefined ? undefined : rowOf(making.world, making.entity.name, id);
    const found = row === undefined ? [] : relatedTo(making.model, making.world, making.entity, row, relation);
    return found.length === 0 || random.chance(0.25) ? someId(making, target.name) : String(random.pick(found).id);
  };
  switch (word) {
    case "create":
      return body(true);
    case "connectOrCreate":
      return byKey(there, body(true));
    case "update": {
      const of = related();
      return isMany ? { id: of, ...body(false, of) } : body(false, of);
    }
    case "upsert":
      return { where: whereOne(making, target, related), create: body(true), update: body(false) };
    case "disconnect":
    case "delete":
      return isMany ? related() : true;
    case "set":
      return random.chance(0.5) ? related() : someId(making, target.name);
    default:
      return someId(making, target.name);
  }
}

/** The inverse relation of a target, so that nothing is written twice. */
const backTo = (target: EntityModel, relation: RelationModel, from: EntityModel): string | undefined =>
  target.relations.find(
    (one) => one.target === from.name && (one.inverse === relation.name || relation.inverse === one.name),
  )?.name;

function whereOne(making: Making, target: EntityModel, child: () => string): JsonObject {
  const { random, world } = making;
  const fields = target.fields.filter(({ kind }) => kind === "string");
  const rows = [...(world.rows.get(target.name)?.values() ?? [])];
  if (making.features.has("queries") && random.chance(0.5)) {
    const tree = treeOf(making, target, 2);
    // A record that must not meet a condition: what the caller may not read does not count.
    return random.chance(0.7) ? { id: child(), not: tree } : tree;
  }
  const field = random.pick([...fields, undefined]);
  if (field === undefined || rows.length === 0)
    return random.chance(0.3) ? {} : { id: rows.length === 0 ? "none" : String(random.pick(rows).id) };
  return { [field.name]: (random.pick(rows)[field.name] ?? null) as Json };
}

/** A key that some record has, or the key of a new record. */
function byKey({ random, world, entity }: Making, create: JsonObject): JsonObject {
  const keys = uniqueFields(entity);
  const name = keys.length > 0 && random.chance(0.97) ? random.pick(keys) : random.pick(entity.fields).name;
  const rows = rowsOf(world, entity.name);
  const value = (rows.length > 0 && random.chance(0.6) ? random.pick(rows)[name] : create[name]) ?? null;
  const where = { [name]: value, ...(random.chance(0.01) && { id: "none" }) };
  return { where, create: random.chance(0.98) ? { ...create, [name]: value } : create };
}
