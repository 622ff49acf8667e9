import type { EntityModel, ResolvedRelation } from "../../../entity/index.ts";
import { firstSide, hiddenName, linkName, linkTableName, otherSideName } from "../../sql/index.ts";

/** One relation field of a printed model. */
export interface RelationField {
  /** Model that has the field. */
  readonly on: string;
  readonly name: string;
  /** Model the field leads to. */
  readonly target: string;
  readonly list: boolean;
  /** Name that ties the two sides together; absent when only one relation connects the two models. */
  readonly relationName?: string;
  /** The side that holds the key. */
  readonly key?: ResolvedRelation;
  /** Printed because Prisma wants both sides of a relation; no entity declares it. */
  readonly hidden: boolean;
}

/** A relation and its two sides, whatever the definitions declare of them. */
interface Pair {
  readonly name: string;
  /** Whether a table of its own holds the pairs of ids. */
  readonly isLinkTable: boolean;
  readonly between: readonly [string, string];
  readonly sides: readonly [RelationField, RelationField];
}

/** What follows a key from the other side; the first declared one, since Prisma knows only one. */
function followerOf(model: EntityModel, key: ResolvedRelation): ResolvedRelation | undefined {
  return key.inverse === undefined ? undefined : model.relation(key.target, key.inverse);
}

/**
 * The relation whose name Prisma knows for this one. Two lists may follow one key (`posts` and `articles`); Prisma has
 * a single field for both.
 */
export function printedRelation(model: EntityModel, relation: ResolvedRelation): ResolvedRelation {
  if (relation.type !== "hasMany" && relation.type !== "hasOne") return relation;
  const key = model.relation(relation.target, relation.inverse as string);
  return (key && followerOf(model, key)) ?? relation;
}

/** Whether Prisma knows a relation as a list: one that leads to a single live record may lead to deleted ones besides. */
export function isPrintedAsList({ type, many, target }: ResolvedRelation): boolean {
  return many || (type === "hasOne" && target.softDelete !== undefined);
}

function keyPair(model: EntityModel, key: ResolvedRelation): Pair {
  const { source, target, name } = key;
  const follower = followerOf(model, key);
  // Deleted records may share the key of a live one.
  const isUnique = source.columns[key.foreignKey as string]?.unique === true && source.softDelete === undefined;
  const back: RelationField = {
    on: target.name,
    name: follower?.name ?? hiddenName(key),
    target: source.name,
    list: follower === undefined ? !isUnique : isPrintedAsList(follower),
    hidden: follower === undefined,
  };
  const own: RelationField = { on: source.name, name, target: target.name, list: false, key, hidden: false };
  return {
    name: `${source.name}_${name}`,
    isLinkTable: false,
    between: [source.name, target.name],
    sides: [own, back],
  };
}

/** Undefined when the other side comes first and makes the pair. */
function listPair(relation: ResolvedRelation): Pair | undefined {
  const { source, target, name, inverse } = relation;
  if (firstSide(relation) !== `${source.name}_${name}`) return undefined;
  const near: RelationField = { on: source.name, name, target: target.name, list: true, hidden: false };
  const far: RelationField = {
    on: target.name,
    name: otherSideName(relation),
    target: source.name,
    list: true,
    hidden: inverse === undefined,
  };
  return { name: linkName(relation), isLinkTable: true, between: [source.name, target.name], sides: [near, far] };
}

function pairsOf(model: EntityModel): Pair[] {
  return model.entities.flatMap((entity) =>
    model.relationsOf(entity).flatMap((relation) => {
      if (relation.remote !== undefined) return [];
      if (relation.type === "belongsTo") return [keyPair(model, relation)];
      return relation.type === "manyToMany" ? (listPair(relation) ?? []) : [];
    }),
  );
}

function connects({ between }: Pair): string {
  return [...between].sort().join("To");
}

/**
 * The name of a relation; undefined when Prisma needs none. Prisma would name a table of pairs after its two models
 * only while it is the only one between them, so such a table always gets a name of its own.
 * @param alongside how many pairs connect two models
 */
function nameOf(pair: Pair, alongside: ReadonlyMap<string, number>): string | undefined {
  const [first, second] = pair.between;
  if (pair.isLinkTable || first === second) return pair.name;
  return alongside.get(connects(pair)) === 1 ? undefined : pair.name;
}

/** Every relation field to print, both sides of each relation, in the order of the definitions. */
export function relationFields(model: EntityModel): readonly RelationField[] {
  const pairs = pairsOf(model);
  const alongside = new Map<string, number>();
  for (const pair of pairs) alongside.set(connects(pair), (alongside.get(connects(pair)) ?? 0) + 1);
  return pairs.flatMap((pair) => {
    const relationName = nameOf(pair, alongside);
    return relationName === undefined ? pair.sides : pair.sides.map((side) => ({ ...side, relationName }));
  });
}

/** Names of all tables: one per entity, and one per manyToMany relation. */
export function tableNames(model: EntityModel): readonly string[] {
  const links = pairsOf(model).filter(({ isLinkTable }) => isLinkTable);
  return [...model.entities.map(({ name }) => name), ...links.map(({ name }) => linkTableName(name))];
}
