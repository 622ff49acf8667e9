import { createHash } from "node:crypto";
import type { AnyEntity } from "./entity-definition.ts";
import type { ResolvedRelation } from "./resolve-relation.ts";

/** PostgreSQL's limit on the length of names. */
export const MAX_NAME = 63;

/** The declared side of a manyToMany relation that comes first. */
export function firstSide({ source, target, name, inverse }: ResolvedRelation): string {
  const own = `${source.name}_${name}`;
  const other = `${target.name}_${inverse ?? ""}`;
  return inverse !== undefined && other < own ? other : own;
}

/**
 * The name of a manyToMany relation, from which Prisma derives the table's name; a name that is too long ends in a
 * hash.
 */
export function linkName(relation: ResolvedRelation): string {
  const name = firstSide(relation);
  const length = MAX_NAME - 1; // the table's name begins with an underscore
  if (name.length <= length) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, length - hash.length - 1)}_${hash}`;
}

/** Prisma's name for the table of a manyToMany relation. */
export function linkTableName(name: string): string {
  return `_${name}`;
}

/** SQLite and MySQL may ignore the case of table names; PostgreSQL's schema is "public" unless another one is named. */
function asCompared(table: string, schema = "public"): string {
  return `${schema}.${table}`.toLowerCase();
}

/**
 * Tables of pairs that something else uses, too: changes of an entity's records or of another relation's pairs would
 * change the pairs without the rules of their sides.
 */
export function pairTableProblems(relations: readonly ResolvedRelation[], entities: readonly AnyEntity[]): string[] {
  const ofEntities = new Map(entities.map((one) => [asCompared(one.table?.name ?? one.name, one.table?.schema), one]));
  const ofPairs = new Map<string, ResolvedRelation>();
  const problems: string[] = [];
  for (const relation of relations) {
    const { type, remote, source, target, name, inverse, through } = relation;
    if (type !== "manyToMany" || remote !== undefined) continue;
    const table = through?.table ?? linkTableName(linkName(relation));
    const key = asCompared(table, through?.schema);
    const first = ofPairs.get(key);
    if (first === undefined) ofPairs.set(key, relation);
    else if (first.source === target && first.name === inverse) continue;
    const is = through === undefined ? `its table of pairs, "${table}", is` : `.through("${table}") names`;
    const at = `${source.name}.${name}: ${is} the table of`;
    const keeper = ofEntities.get(key);
    if (keeper !== undefined)
      problems.push(
        `${at} ${keeper.name}, whose rules would not apply to pairs; use hasMany(() => ${keeper.name}) instead`,
      );
    else if (first !== undefined) {
      const isBetweenSame = first.source === target && first.target === source;
      const or = isBetweenSame
        ? `if it is its other side, connect them with .inverse("${first.name}"), otherwise `
        : "";
      problems.push(
        `${at} ${first.source.name}.${first.name}; ${or}rename one of them or give it a table of its own with .through("other_name", { own, other })`,
      );
    }
  }
  return problems;
}
