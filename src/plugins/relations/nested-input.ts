import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  isObject,
  type ResolvedRelation,
} from "../../entity/index.ts";
import { orderOfIds } from "../../gate/index.ts";
import type { Limits } from "../../kernel/index.ts";
import { BadRequestError, PreconditionRequiredError, ValidationFailedError } from "../../kernel/index.ts";

/** What a nested write does to related records. */
export type Verb = ("create" | "connect" | "connectOrCreate") | ("disconnect" | "set" | "update" | "upsert" | "delete");

const VERBS: Readonly<Record<ResolvedRelation["type"], readonly Verb[]>> = {
  belongsTo: ["create", "connect", "connectOrCreate", "disconnect", "update"],
  hasOne: ["create", "connect", "connectOrCreate", "disconnect", "update", "delete"],
  hasMany: ["create", "connect", "connectOrCreate", "disconnect", "set", "update", "upsert", "delete"],
  manyToMany: ["create", "connect", "connectOrCreate", "disconnect", "set"],
};

type Data = Readonly<Record<string, unknown>>;

/** One thing that is done to the records of a relation. */
export interface NestedWrite {
  readonly relation: ResolvedRelation;
  readonly verb: Verb;
  /** What is created or changed, or ids, or conditions; one for a to-one relation. */
  readonly items: readonly unknown[];
}

/** Which writes of related records a value asks for. @throws ValidationFailedError with the path of what is wrong */
export function nestedWritesOf(relation: ResolvedRelation, value: unknown): readonly NestedWrite[] {
  const { name, type, many } = relation;
  const verbs = VERBS[type];
  return Object.entries(value as Data).map(([word, given]) => {
    const verb = word as Verb;
    if (!verbs.includes(verb)) throw wrong([name, word], `is not one of ${verbs.join(", ")}`);
    const items = Array.isArray(given) ? given : [given];
    if (Array.isArray(given) && !many) throw wrong([name, verb], "takes one value: there is one record");
    for (const [index, item] of items.entries()) checkItem(verb, many, item, many ? [name, verb, index] : [name, verb]);
    return { relation, verb, items };
  });
}

function checkItem(verb: Verb, many: boolean, item: unknown, path: readonly (string | number)[]): void {
  switch (verb) {
    case "create":
      if (!isObject(item)) throw wrong(path, "takes a record to create");
      return;
    case "update":
      if (!isObject(item)) throw wrong(path, "takes changes of a record");
      if (many && !isId(item.id)) throw wrong([...path, "id"], "must be the id of the record to change");
      return;
    case "upsert":
      checkParts(["where", "create", "update"], item, path);
      return;
    case "connectOrCreate":
      checkParts(["where", "create"], item, path);
      return;
    case "disconnect":
    case "delete":
      if (many ? !isId(item) : item !== true) throw wrong(path, many ? "takes ids" : "takes true");
      return;
    default:
      if (!isId(item)) throw wrong(path, many ? "takes ids" : "takes an id");
  }
}

function checkParts(names: readonly string[], item: unknown, path: readonly (string | number)[]): void {
  const isWhole =
    isObject(item) && names.every((name) => isObject(item[name])) && Object.keys(item).length === names.length;
  if (!isWhole) throw wrong(path, `takes { ${names.join(", ")} }`);
}

function isId(value: unknown): value is string | number | bigint {
  return (typeof value === "string" && value !== "") || typeof value === "number" || typeof value === "bigint";
}

/** The error about one place of the input. */
export function wrong(path: readonly (string | number)[], message: string): ValidationFailedError {
  return new ValidationFailedError([{ path: [...path], code: "custom", message }]);
}

/**
 * Holds the writes of one input to the limits, with all that is nested in them, before any of them runs.
 * @returns the entities whose records they may change
 * @throws BadRequestError
 */
export function checkNested(
  model: EntityModel,
  writes: readonly NestedWrite[],
  limits: Limits,
): ReadonlySet<AnyEntity> {
  const written = new Set<AnyEntity>();
  let count = 0;
  const visit = (some: readonly NestedWrite[], level: number): void => {
    if (level > limits.includeDepth)
      throw new BadRequestError(`Related records are written at most ${limits.includeDepth} levels deep`);
    for (const { relation, items } of some) {
      written.add(relation.target);
      count += items.length;
      if (count > limits.bulk) throw new BadRequestError(`At most ${limits.bulk} related records are written at once`);
      for (const item of items) if (isObject(item)) visitData(relation.target, item, level);
    }
  };
  const visitData = (entity: AnyEntity, data: Data, level: number): void => {
    for (const part of [data, data.create, data.update].filter(isObject)) {
      for (const [name, value] of Object.entries(part)) {
        const relation = Object.hasOwn(entity.relations, name) ? model.relation(entity, name) : undefined;
        if (relation === undefined || !isObject(value)) continue;
        const inner = Object.entries(value).map(([verb, given]) => ({
          relation,
          verb: verb as Verb,
          items: Array.isArray(given) ? given : [given],
        }));
        visit(inner, level + 1);
      }
    }
  };
  visit(writes, 1);
  return written;
}

/**
 * Nested writes name no versions, so that they would overwrite what others have written meanwhile.
 * @throws PreconditionRequiredError where the records that they would change need one
 */
export function refuseUnversioned({ relation: { name, type, target }, verb }: NestedWrite): void {
  const keepsKey = type === "hasMany" || type === "hasOne";
  const changes = verb !== "create" && (keepsKey || verb === "update");
  if (changes && target.versioned?.required)
    throw new PreconditionRequiredError(
      `${name}.${verb}: change each ${target.name} by its own request, with "If-Match"`,
    );
}

/** The writes of each relation, in the order of their names. */
export function byRelation(
  writes: readonly NestedWrite[],
): readonly (readonly [ResolvedRelation, readonly NestedWrite[]])[] {
  const found = new Map<ResolvedRelation, NestedWrite[]>();
  for (const write of writes) found.set(write.relation, [...(found.get(write.relation) ?? []), write]);
  return [...found].sort(([a], [b]) => (a.name < b.name ? -1 : 1));
}

/** One record of a nested write, or for `set` all of them. */
interface Step {
  readonly verb: NestedWrite["verb"];
  readonly item: unknown;
  readonly index: number;
  /** Of the record that is there; undefined for a new one, and for one that has yet to be found. */
  readonly id: string | undefined;
}

/** What `set` names, then records that are there in the order of their ids, then those that are created or have yet to be found. */
export function inOrderOfIds(target: AnyEntity, writes: readonly NestedWrite[]): readonly Step[] {
  const steps = writes.flatMap(({ verb, items }): Step[] => {
    if (verb === "set") return [{ verb, item: items, index: 0, id: undefined }];
    return items.map((item, index) => ({ verb, item, index, id: idOfItem(target, verb, item) }));
  });
  const there = steps.filter(({ id }) => id !== undefined);
  const order = orderOfIds(target);
  there.sort((a, b) => order(a.id as string, b.id as string));
  const sets = steps.filter(({ verb }) => verb === "set");
  return [...sets, ...there, ...steps.filter(({ verb, id }) => verb !== "set" && id === undefined)];
}

function idOfItem(target: AnyEntity, verb: NestedWrite["verb"], item: unknown): string | undefined {
  if (verb === "create" || verb === "upsert" || verb === "connectOrCreate") return undefined;
  const given = verb === "update" ? (item as Data).id : item;
  return given === undefined || given === true ? undefined : idText(target, given);
}

/** An id as it is in code: those of whole numbers are texts. */
export function idText({ columns }: AnyEntity, given: unknown): string {
  const converted = (columns.id as ColumnDefinition).kind.convert?.(given);
  return String(converted?.ok === true ? converted.value : given);
}
