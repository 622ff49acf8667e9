import { type EntityModel, firstSide, linkName, type ResolvedRelation } from "../../../entity/index.ts";
import { hiddenName, otherSideName } from "../../sql/index.ts";

/** One relation field of a printed model. */
export interface RelationField {
  /** Model that has the field. */
  readonly on: string;
  readonly name: string;
  /** The related model. */
  readonly target: string;
  readonly list: boolean;
  /** The name that connects the two sides; absent when only one relation connects the two models. */
  readonly relationName?: string;
  /** The side that holds the key. */
  readonly key?: ResolvedRelation;
  /** Whether no entity declares the side; it is printed because Prisma requires both sides of a relation. */
  readonly hidden: boolean;
}

/** Every relation field to print, both sides of each relation, in the order of the definitions. */
export function relationFields(model: EntityModel): readonly RelationField[] {
  const pairs = model.entities.flatMap((entity) =>
    model.relationsOf(entity).flatMap((relation) => {
      if (relation.remote !== undefined) return [];
      if (relation.type === "belongsTo") return [keyPair(model, relation)];
      return relation.type === "manyToMany" ? (listPair(relation) ?? []) : [];
    }),
  );
  const alongside = new Map<string, number>();
  for (const pair of pairs) alongside.set(connects(pair), (alongside.get(connects(pair)) ?? 0) + 1);
  return pairs.flatMap((pair) => {
    const { name, isLinkTable, sides } = pair;
    // Prisma names a table of pairs after its two models only if it is the only one between them, so such a table
    // always gets an explicit name.
    const isNamed = isLinkTable || sides[0].on === sides[1].on || alongside.get(connects(pair)) !== 1;
    return isNamed ? sides.map((side) => ({ ...side, relationName: name })) : sides;
  });
}

/** A relation and its two sides, declared or not. */
interface Pair {
  readonly name: string;
  /** Whether a separate table holds the pairs of ids. */
  readonly isLinkTable: boolean;
  readonly sides: readonly [RelationField, RelationField];
}

function connects({ sides: [one, other] }: Pair): string {
  return [one.on, other.on].sort().join("To");
}

function keyPair(model: EntityModel, key: ResolvedRelation): Pair {
  const { source, target, name } = key;
  const follower = followerOf(model, key);
  // Deleted records may share the key of a live one.
  const isUnique = source.columns[key.foreignKey as string]?.unique === true && source.softDelete === undefined;
  const own: RelationField = { on: source.name, name, target: target.name, list: false, key, hidden: false };
  const back: RelationField = {
    on: target.name,
    name: follower?.name ?? hiddenName(key),
    target: source.name,
    list: follower === undefined ? !isUnique : isPrintedAsList(follower),
    hidden: follower === undefined,
  };
  return { name: `${source.name}_${name}`, isLinkTable: false, sides: [own, back] };
}

/** Returns undefined when the other side comes first and makes the pair. */
function listPair(relation: ResolvedRelation): Pair | undefined {
  const { source, target, name, inverse } = relation;
  // Prisma does not support tables of pairs with custom names.
  if (firstSide(relation) !== `${source.name}_${name}` || relation.through !== undefined) return undefined;
  const near: RelationField = { on: source.name, name, target: target.name, list: true, hidden: false };
  const hidden = inverse === undefined;
  const far = { on: target.name, name: otherSideName(relation), target: source.name, list: true, hidden };
  return { name: linkName(relation), isLinkTable: true, sides: [near, far] };
}

/** The relation that uses a key from the other side; the first declared one, since Prisma supports only one. */
function followerOf(model: EntityModel, key: ResolvedRelation): ResolvedRelation | undefined {
  return key.inverse === undefined ? undefined : model.relation(key.target, key.inverse);
}

/**
 * The relation that Prisma has for this one. Two lists may use the same key (`posts` and `articles`); Prisma has a
 * single field for both.
 */
export function printedRelation(model: EntityModel, relation: ResolvedRelation): ResolvedRelation {
  if (relation.type !== "hasMany" && relation.type !== "hasOne") return relation;
  const key = model.relation(relation.target, relation.inverse as string);
  return (key && followerOf(model, key)) ?? relation;
}

/** Whether a relation is a list in Prisma: a relation to a single live record may also lead to deleted ones. */
export function isPrintedAsList({ type, many, target }: ResolvedRelation): boolean {
  return many || (type === "hasOne" && target.softDelete !== undefined);
}
