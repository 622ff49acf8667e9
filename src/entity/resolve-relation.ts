import { foreignKeyOf } from "./columns.ts";
import type { AnyEntity } from "./entity-definition.ts";
import type { OnDelete, PairTable, RelationDefinition, RelationType } from "./relation.ts";

/** A relation with both ends resolved. */
export interface ResolvedRelation {
  readonly name: string;
  readonly type: RelationType;
  readonly source: AnyEntity;
  readonly target: AnyEntity;
  /** Whether the relation is a list. */
  readonly many: boolean;
  readonly optional: boolean;
  readonly remote?: { readonly service?: string | undefined };
  /** belongsTo: column on the source. hasMany, hasOne: column on the target. manyToMany: undefined. */
  readonly foreignKey?: string;
  /** The name of the relation on the target that is the other side, if it is declared. */
  readonly inverse?: string;
  readonly onDelete: OnDelete;
  /** manyToMany: the table of its pairs from this side, if it has a custom name. */
  readonly through?: PairTable;
}

/** Finds the target of a relation; undefined when it is not part of the app. */
export type TargetOf = (source: AnyEntity, relation: RelationDefinition) => AnyEntity | undefined;

type Side = readonly [name: string, relation: RelationDefinition];
/**
 * The name of the other side, undefined if the other entity does not declare it; or the problem when it cannot be
 * determined.
 */
type OtherSide = { readonly name?: string | undefined; readonly foreignKey?: string } | { readonly problem: string };

/** The relations of `entity` to `target` with given types. */
function sides(entity: AnyEntity, target: AnyEntity, types: readonly RelationType[], targetOf: TargetOf): Side[] {
  return Object.entries(entity.relations).filter(
    ([, relation]) => types.includes(relation.type) && targetOf(entity, relation)?.name === target.name,
  );
}

/** Whether two relations can be two sides of one: neither has a different `.inverse()`. */
function fit([name, relation]: Side, [otherName, other]: Side): boolean {
  return (relation.inverse ?? otherName) === otherName && (other.inverse ?? name) === name;
}

function isNamed([name, relation]: Side, [otherName, other]: Side): boolean {
  return relation.inverse === otherName || other.inverse === name;
}

const names = (list: readonly Side[]): string => list.map(([name]) => name).join(", ");

/** hasMany, hasOne: the belongsTo relation whose key it uses. */
function keySide(source: AnyEntity, own: Side, target: AnyEntity, targetOf: TargetOf): OtherSide {
  const [name, { inverse, foreignKey }] = own;
  const fitting = sides(target, source, ["belongsTo"], targetOf).filter(
    (side) => fit(own, side) && (foreignKey ?? foreignKeyOf(...side)) === foreignKeyOf(...side),
  );
  const named = fitting.filter((side) => isNamed(own, side));
  const [only, second] = named.length > 0 ? named : fitting;
  const at = `${source.name}.${name}`;
  if (only === undefined) {
    const wanted = inverse === undefined ? "" : ` named "${inverse}"`;
    return { problem: `${at}: ${target.name} has no belongsTo relation to ${source.name}${wanted}` };
  }
  if (second !== undefined)
    return {
      problem: `${at}: ${target.name} has several belongsTo relations to ${source.name} (${names(fitting)}); name one with .inverse("${only[0]}")`,
    };
  return { name: only[0], foreignKey: foreignKeyOf(...only) };
}

/** belongsTo: the hasMany or hasOne relation that uses its key, if declared. */
function listSide(source: AnyEntity, own: Side, target: AnyEntity, targetOf: TargetOf): OtherSide {
  const [name, relation] = own;
  const found = sides(target, source, ["hasMany", "hasOne"], targetOf).filter((side) => {
    const key = keySide(target, side, source, targetOf);
    return "name" in key && key.name === name;
  });
  const [first] = relation.inverse === undefined ? found : found.filter((side) => side[0] === relation.inverse);
  if (first === undefined && relation.inverse !== undefined)
    return {
      problem: `${source.name}.${name}: ${target.name} has no hasMany or hasOne relation to ${source.name} named "${relation.inverse}"`,
    };
  return { name: first?.[0], foreignKey: foreignKeyOf(...own) };
}

/** The manyToMany relations from an entity to another that no `.inverse()` connects to the other side. */
function openSides(entity: AnyEntity, target: AnyEntity, targetOf: TargetOf): Side[] {
  const others = sides(target, entity, ["manyToMany"], targetOf);
  return sides(entity, target, ["manyToMany"], targetOf).filter(
    (side) => side[1].inverse === undefined && !others.some(([, other]) => other.inverse === side[0]),
  );
}

/** manyToMany: the relation on the other side with the same pairs, if declared. Both sides find each other. */
function twinSide(source: AnyEntity, own: Side, target: AnyEntity, targetOf: TargetOf): OtherSide {
  const [name, { inverse }] = own;
  const others = sides(target, source, ["manyToMany"], targetOf).filter(
    (side) => source !== target || side[0] !== name,
  );
  const [first, second] = others.filter((side) => fit(own, side) && isNamed(own, side));
  const at = `${source.name}.${name}`;
  if (second !== undefined)
    return { problem: `${at}: several relations of ${target.name} say they are its other side (${names(others)})` };
  if (first !== undefined) return { name: first[0] };
  if (inverse !== undefined)
    return { problem: `${at}: ${target.name} has no manyToMany relation to ${source.name} named "${inverse}"` };
  // Two relations of an entity to itself (friends, blocked) are independent unless `.inverse()` connects them.
  const theirs = source === target ? [] : openSides(target, source, targetOf);
  if (theirs.length === 0) return {};
  const mine = openSides(source, target, targetOf);
  if (mine.length === 1 && theirs.length === 1) return { name: theirs[0]?.[0] };
  return {
    problem: `${at}: its other side is ambiguous (${source.name}: ${names(mine)}; ${target.name}: ${names(theirs)}); name one with .inverse("${theirs[0]?.[0]}")`,
  };
}

/** The table of pairs that one of the two sides declares, from this side. */
function pairTable(
  { through }: RelationDefinition,
  other: RelationDefinition | undefined,
): { readonly through?: PairTable } {
  if (through !== undefined) return { through };
  const theirs = other?.through;
  return theirs === undefined ? {} : { through: { ...theirs, own: theirs.other, other: theirs.own } };
}

const OTHER_SIDE = { belongsTo: listSide, hasMany: keySide, hasOne: keySide, manyToMany: twinSide } as const;

/** Resolves a relation and its other side; returns a problem when it is ambiguous. */
export function resolveRelation(
  source: AnyEntity,
  name: string,
  target: AnyEntity,
  targetOf: TargetOf,
): { readonly relation: ResolvedRelation } | { readonly problem: string } {
  const definition = source.relations[name] as RelationDefinition;
  const { type, optional, remote, onDelete } = definition;
  const other = OTHER_SIDE[type](source, [name, definition], target, targetOf);
  if ("problem" in other) return other;
  const relation: ResolvedRelation = Object.freeze({
    name,
    type,
    source,
    target,
    many: type === "hasMany" || type === "manyToMany",
    optional,
    onDelete: onDelete ?? (optional ? "setNull" : "restrict"),
    ...(remote ? { remote } : {}),
    ...(other.foreignKey === undefined ? {} : { foreignKey: other.foreignKey }),
    ...(other.name === undefined ? {} : { inverse: other.name }),
    ...pairTable(definition, other.name === undefined ? undefined : target.relations[other.name]),
  });
  return { relation };
}
