import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  isObject,
  isPlainObject,
  type ResolvedRelation,
} from "../../entity/index.ts";
import { inOrderOfIds, logicOf, quantifiersOf } from "../../gate/index.ts";
import type { Limits } from "../../kernel/index.ts";
import { BadRequestError, PreconditionRequiredError, ValidationFailedError } from "../../kernel/index.ts";

/** A verb of nested writes. */
export type Verb = ("create" | "connect" | "connectOrCreate") | ("disconnect" | "set" | "update" | "upsert" | "delete");

const VERBS: Readonly<Record<ResolvedRelation["type"], readonly Verb[]>> = {
  belongsTo: ["create", "connect", "connectOrCreate", "disconnect", "update"],
  hasOne: ["create", "connect", "connectOrCreate", "disconnect", "update", "delete"],
  hasMany: ["create", "connect", "connectOrCreate", "disconnect", "set", "update", "upsert", "delete"],
  manyToMany: ["create", "connect", "connectOrCreate", "disconnect", "set"],
};

type Data = Readonly<Record<string, unknown>>;

/** One verb applied to records of a relation. */
export interface NestedWrite {
  readonly relation: ResolvedRelation;
  readonly verb: Verb;
  /** Data, ids or conditions, depending on the verb. A to-one relation has one item. */
  readonly items: readonly unknown[];
}

/** Reads the nested writes of a value. @throws ValidationFailedError with the path of the invalid part */
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

/** An error about one place of the input. */
export function wrong(path: readonly (string | number)[], message: string): ValidationFailedError {
  return new ValidationFailedError([{ path: [...path], code: "custom", message }]);
}

/**
 * Checks the limits for all nested writes of an input, at all levels, before any of them runs.
 * @throws BadRequestError
 */
export function checkNested(model: EntityModel, writes: readonly NestedWrite[], limits: Limits): void {
  let count = 0;
  const visit = (some: readonly NestedWrite[], level: number): void => {
    if (level > limits.includeDepth)
      throw new BadRequestError(`Related records are written at most ${limits.includeDepth} levels deep`);
    for (const { relation, items } of some) {
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
}

/**
 * Refuses nested writes that need a version. They cannot name one, so they would overwrite concurrent changes.
 * @throws PreconditionRequiredError if the records that they change require `If-Match`
 */
export function refuseUnversioned({ relation: { name, type, target }, verb }: NestedWrite): void {
  const keepsKey = type === "hasMany" || type === "hasOne";
  const changes = verb !== "create" && (keepsKey || verb === "update");
  if (changes && target.versioned?.required)
    throw new PreconditionRequiredError(
      `${name}.${verb}: change each ${target.name} by its own request, with "If-Match"`,
    );
}

/** The writes by relation, in the order of the relations' names. */
export function byRelation(
  writes: readonly NestedWrite[],
): readonly (readonly [ResolvedRelation, readonly NestedWrite[]])[] {
  const found = new Map<ResolvedRelation, NestedWrite[]>();
  for (const write of writes) found.set(write.relation, [...(found.get(write.relation) ?? []), write]);
  return [...found].sort(([a], [b]) => (a.name < b.name ? -1 : 1));
}

/** One record of a nested write; for `set`, all its records. */
interface Step {
  readonly verb: NestedWrite["verb"];
  readonly item: unknown;
  readonly index: number;
  /** The id of an existing record; undefined for new records, and for records that still have to be found. */
  readonly id: string | undefined;
}

/** The steps in order: `set`, then existing records by id, then records that are created or still have to be found. */
export function stepsInOrder(target: AnyEntity, writes: readonly NestedWrite[]): readonly Step[] {
  const steps = writes.flatMap(({ verb, items }): Step[] => {
    if (verb === "set") return [{ verb, item: items, index: 0, id: undefined }];
    return items.map((item, index) => ({ verb, item, index, id: idOfItem(target, verb, item) }));
  });
  const known = steps.filter(({ id }) => id !== undefined);
  const there = inOrderOfIds(target, known, ({ id }) => id as string);
  const sets = steps.filter(({ verb }) => verb === "set");
  return [...sets, ...there, ...steps.filter(({ verb, id }) => verb !== "set" && id === undefined)];
}

function idOfItem(target: AnyEntity, verb: NestedWrite["verb"], item: unknown): string | undefined {
  if (verb === "create" || verb === "upsert" || verb === "connectOrCreate") return undefined;
  const given = verb === "update" ? (item as Data).id : item;
  return given === undefined || given === true ? undefined : idText(target, given);
}

/** An id as text. Ids that are whole numbers are sent as JSON numbers. */
export function idText({ columns }: AnyEntity, given: unknown): string {
  const converted = (columns.id as ColumnDefinition).kind.convert?.(given);
  return String(converted?.ok === true ? converted.value : given);
}

/** The most levels of a condition that are read; the gate refuses more. */
const MOST_LEVELS = 64;

/** Reads a condition of the input: values that JSON writes as text, such as datetimes, become values of their fields. */
export function readCondition(model: EntityModel, entity: AnyEntity, where: unknown, level = 1): Data {
  if (!isPlainObject(where) || level > MOST_LEVELS) return where as Data;
  const inner = (target: AnyEntity, value: unknown): Data => readCondition(model, target, value, level + 1);
  const read = (name: string, value: unknown): unknown => {
    if (logicOf(entity, name) !== undefined)
      return Array.isArray(value) ? value.map((part) => inner(entity, part)) : inner(entity, value);
    if (Object.hasOwn(entity.columns, name)) return readValues(entity.columns[name] as ColumnDefinition, value);
    const relation = Object.hasOwn(entity.relations, name) ? model.relation(entity, name) : undefined;
    if (relation === undefined || !isPlainObject(value)) return value;
    const quantified = quantifiersOf(relation, value);
    if (quantified === undefined) return inner(relation.target, value);
    return Object.fromEntries(quantified.map(([quantifier, one]) => [quantifier, inner(relation.target, one)]));
  };
  return Object.fromEntries(Object.entries(where).map(([name, value]) => [name, read(name, value)]));
}

/** Operators that take true or false, whatever the field. */
const TRUTHS: ReadonlySet<string> = new Set(["null", "isEmpty"]);

function readValues({ kind: own }: ColumnDefinition, value: unknown): unknown {
  const kind = own.item ?? own;
  const readOne = (one: unknown): unknown => {
    const found = typeof one === "string" && !kind.accepts(one) ? kind.parse(one) : undefined;
    return found?.ok === true ? found.value : one;
  };
  const read = (operand: unknown): unknown => (Array.isArray(operand) ? operand.map(readOne) : readOne(operand));
  return isPlainObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, operand]) => [name, TRUTHS.has(name) ? operand : read(operand)]),
      )
    : read(value);
}
