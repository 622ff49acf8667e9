import fc from "fast-check";
import {
  type AnyField,
  type AnyRelation,
  belongsTo,
  bool,
  datetime,
  type EntityLike,
  entity,
  type Field,
  float,
  int,
  json,
  manyToMany,
  type OnDelete,
  string,
  text,
} from "../../src/entity/index.ts";
import type { Row } from "../../src/gate/index.ts";

// Definitions as plain data, and changes to them. The number identifies a definition across renames, so that its values
// can be followed.

const KINDS = {
  string: { make: string, value: "it's 100 % ☃", initial: "new", wider: "text" },
  text: { make: text, value: "long\ntext", initial: "new", wider: undefined },
  int: { make: int, value: -7, initial: 3, wider: "float" },
  float: { make: float, value: 1.5, initial: 0.5, wider: undefined },
  bool: { make: bool, value: true, initial: false, wider: undefined },
  datetime: { make: datetime, value: new Date("2024-05-31T12:00:00.123Z"), initial: new Date(0), wider: undefined },
  json: { make: json, value: { a: [1, null] }, initial: { b: "'" }, wider: undefined },
} as const;
type Kind = keyof typeof KINDS;

interface FieldPlan {
  readonly key: number;
  name: string;
  from?: string;
  kind: Kind;
  optional: boolean;
  unique: boolean;
  hasDefault: boolean;
}
interface RelationPlan {
  readonly key: number;
  readonly type: "belongsTo" | "manyToMany";
  /** Key of an entity that comes earlier in the list, or of the entity itself. */
  readonly target: number;
  name: string;
  from?: string;
  optional: boolean;
  onDelete: OnDelete;
}
interface EntityPlan {
  readonly key: number;
  name: string;
  from?: string;
  indexed: boolean;
  fields: FieldPlan[];
  relations: RelationPlan[];
}
export type Definitions = EntityPlan[];

/** The change to make, and three numbers that choose its target. */
type Change = readonly [name: keyof typeof CHANGES, where: number, what: number, how: number];

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(list.length, 1)];

function newField(key: number, kind: Kind): FieldPlan {
  return { key, name: `field${key}`, kind, optional: key % 2 === 0, unique: false, hasDefault: key % 2 === 1 };
}

function newRelation(key: number, of: EntityPlan, target: EntityPlan): RelationPlan {
  const type = key % 3 === 0 ? "manyToMany" : "belongsTo";
  const name = `rel${key}`;
  return { key, type, target: target.key, name, optional: of === target || key % 2 === 0, onDelete: "cascade" };
}

function rename(thing: { name: string; from?: string }, key: number): void {
  thing.from = thing.name;
  thing.name = `${key % 2 === 0 ? "a" : "z"}New${key}`;
}

/** Changes to definitions; `key` is an unused number. */
const CHANGES = {
  addField: (all: Definitions, key: number, where: number, what: number) =>
    pick(all, where)?.fields.push(newField(key, pick(Object.keys(KINDS) as Kind[], what) as Kind)),
  dropField: (all: Definitions, _: number, where: number, what: number) => pick(all, where)?.fields.splice(what % 5, 1),
  renameField(all: Definitions, key: number, where: number, what: number) {
    const field = pick(pick(all, where)?.fields ?? [], what);
    if (field !== undefined && field.from === undefined) rename(field, key);
  },
  widenField(all: Definitions, _: number, where: number, what: number) {
    const field = pick(pick(all, where)?.fields ?? [], what);
    if (field !== undefined) field.kind = KINDS[field.kind].wider ?? field.kind;
  },
  changeField(all: Definitions, _: number, where: number, what: number, how: number) {
    const field = pick(pick(all, where)?.fields ?? [], what);
    if (field === undefined) return;
    if (how % 3 === 0) field.optional = !field.optional;
    else if (how % 3 === 1) field.unique = field.kind !== "json" && !field.unique;
    else if (field.optional) field.hasDefault = !field.hasDefault;
  },
  changeIndex(all: Definitions, _: number, where: number) {
    const found = pick(all, where);
    if (found !== undefined) found.indexed = !found.indexed;
  },
  addEntity: (all: Definitions, key: number, where: number) =>
    all.push({
      key,
      name: `entity${key}`,
      indexed: where % 2 === 0,
      fields: [newField(key, "string"), newField(key + 1, pick(Object.keys(KINDS) as Kind[], where) as Kind)],
      relations: [],
    }),
  dropEntity(all: Definitions, _: number, where: number) {
    if (all.length < 2) return;
    const [gone] = all.splice(where % all.length, 1);
    for (const plan of all) plan.relations = plan.relations.filter(({ target }) => target !== gone?.key);
  },
  renameEntity(all: Definitions, key: number, where: number) {
    const found = pick(all, where);
    if (found !== undefined && found.from === undefined) rename(found, key);
  },
  addRelation(all: Definitions, key: number, where: number, what: number) {
    const of = pick(all, where) as EntityPlan;
    const target = pick(all.slice(0, all.indexOf(of) + 1), what) as EntityPlan;
    of.relations.push({ ...newRelation(key, of, target), optional: true, onDelete: "setNull" });
  },
  dropRelation: (all: Definitions, _: number, where: number) => pick(all, where)?.relations.shift(),
  renameRelation(all: Definitions, key: number, where: number, what: number) {
    const relation = pick(pick(all, where)?.relations ?? [], what);
    if (relation !== undefined && relation.from === undefined) rename(relation, key);
  },
  changeRelation(all: Definitions, _: number, where: number, what: number) {
    const relation = pick(pick(all, where)?.relations ?? [], what);
    if (relation !== undefined) relation.onDelete = relation.onDelete === "cascade" ? "restrict" : "cascade";
  },
} as const;

/** Removes former names, as an app does once every database has the new ones. */
function forgetNames(definitions: Definitions): void {
  for (const plan of definitions) for (const thing of [plan, ...plan.fields, ...plan.relations]) delete thing.from;
}

/** The definitions after some changes. @param step How many changes came before */
function changed(before: Definitions, changes: readonly Change[], step: number): Definitions {
  const after = structuredClone(before);
  if (step % 2 === 0) forgetNames(after);
  changes.forEach(([name, where, what, how], index) => {
    CHANGES[name](after, 1000 * (step + 1) + 10 * index, where, what, how);
  });
  return after;
}

const small = fc.nat(9);
const change: fc.Arbitrary<Change> = fc.tuple(
  fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
  small,
  small,
  small,
);

/** Starts with three entities that refer to each other. */
function beginning(kinds: readonly Kind[], flags: readonly boolean[]): Definitions {
  const all: Definitions = [];
  for (let at = 0; at < 3; at++) {
    const plan: EntityPlan = {
      key: at + 1,
      name: `entity${at}`,
      indexed: flags[at] === true,
      fields: [],
      relations: [],
    };
    all.push(plan);
    plan.fields.push(...kinds.map((kind, index) => newField(100 * (at + 1) + index, kind)));
    plan.relations = all.map((target, index) => newRelation(500 + 10 * at + index, plan, target));
  }
  return all;
}

/** How often definitions change in one history: each version and the next form a pair. */
export const STEPS = 3;

/** Definitions, and their versions after each step. */
export const histories: fc.Arbitrary<readonly Definitions[]> = fc
  .record({
    kinds: fc.array(fc.constantFrom(...(Object.keys(KINDS) as Kind[])), { minLength: 1, maxLength: 4 }),
    flags: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    steps: fc.array(fc.array(change, { minLength: 1, maxLength: 8 }), { minLength: STEPS, maxLength: STEPS }),
  })
  .map(({ kinds, flags, steps }) => {
    const history = [beginning(kinds, flags)];
    steps.forEach((changes, step) => {
      history.push(changed(history.at(-1) as Definitions, changes, step));
    });
    return history;
  });

function fieldOf({ kind, optional, unique, hasDefault, from }: FieldPlan): AnyField {
  const { make, initial } = KINDS[kind];
  let field = make as Field<unknown>;
  if (optional) field = field.optional() as Field<unknown>;
  if (unique) field = field.unique();
  // A required column added to a table with rows needs a default.
  if (hasDefault || !optional) field = field.default(initial) as Field<unknown>;
  return from === undefined ? field : field.renamedFrom(from);
}

/** Converts to Keelson definitions. */
export function entitiesOf(definitions: Definitions): readonly EntityLike[] {
  const built = new Map<number, EntityLike>();
  for (const { key, name, from, indexed, fields, relations } of definitions) {
    const members: Record<string, AnyField | AnyRelation> = {};
    for (const field of fields) members[field.name] = fieldOf(field);
    for (const { type, target, name: own, from: former, optional, onDelete } of relations) {
      const to = (): EntityLike => built.get(target) as EntityLike;
      const action = onDelete === "setNull" && !optional ? "restrict" : onDelete;
      const plain = type === "manyToMany" ? manyToMany(to) : belongsTo(to).onDelete(action);
      const relation = optional && type === "belongsTo" ? plain.optional() : plain;
      members[own] = (former === undefined ? relation : relation.renamedFrom(former)) as AnyRelation;
    }
    const sortable = fields.filter(({ kind }) => kind !== "json").map((field) => field.name);
    let builder = entity(name, members).timestamps(false);
    if (indexed && sortable.length > 0) builder = builder.index(sortable);
    built.set(key, (from === undefined ? builder : builder.renamedFrom(from)) as unknown as EntityLike);
  }
  return [...built.values()];
}

/** Contents of a database: a row of every entity, and a pair of every manyToMany relation, by the numbers of both. */
export interface Contents {
  readonly rows: ReadonlyMap<number, Row>;
  readonly pairs: ReadonlySet<number>;
}

/** What a database of these definitions holds after seeding: keys lead to the row of the other entity. */
export function fullContents(definitions: Definitions, { rows }: Contents): Contents {
  const full = new Map<number, Row>();
  for (const { key, fields, relations } of definitions) {
    const was = rows.get(key);
    const row: Record<string, unknown> = { id: `row${key}` };
    for (const field of fields) row[field.name] = was?.[field.name] ?? KINDS[field.kind].value;
    for (const relation of relations)
      if (relation.type === "belongsTo") {
        const to = relation.target === key ? null : `row${relation.target}`;
        row[`${relation.name}Id`] = was === undefined ? to : was[`${relation.name}Id`];
      }
    full.set(key, row);
  }
  const links = definitions.flatMap(({ relations }) => relations.filter(({ type }) => type === "manyToMany"));
  return { rows: full, pairs: new Set(links.map(({ key }) => key)) };
}

/** The expected contents after a change: kept columns keep their values, new ones get defaults and nulls. */
export function keptContents(before: Definitions, after: Definitions, { rows, pairs }: Contents): Contents {
  const kept = new Map<number, Row>();
  for (const { key, fields, relations } of after) {
    const old = before.find((plan) => plan.key === key);
    const was = rows.get(key);
    if (old === undefined || was === undefined) continue;
    const row: Record<string, unknown> = { id: was.id };
    for (const field of fields) {
      const former = old.fields.find((one) => one.key === field.key);
      const added = field.hasDefault || !field.optional ? KINDS[field.kind].initial : null;
      row[field.name] = former === undefined ? added : was[former.name];
    }
    for (const relation of relations) {
      if (relation.type !== "belongsTo") continue;
      const former = old.relations.find((one) => one.key === relation.key);
      row[`${relation.name}Id`] = former === undefined ? null : was[`${former.name}Id`];
    }
    kept.set(key, row);
  }
  const links = new Set(after.flatMap(({ relations }) => relations.map(({ key }) => key)));
  return { rows: kept, pairs: new Set([...pairs].filter((key) => links.has(key))) };
}
