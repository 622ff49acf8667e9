import type { ResolvedRelation } from "../../../entity/index.ts";
import { distinctName, MAX_NAME } from "./constraint-name.ts";

/** The table's name begins with an underscore. */
const MAX_LINK_NAME = MAX_NAME - 1;

/** The declared side of a manyToMany relation that comes first. */
export function firstSide({ source, target, name, inverse }: ResolvedRelation): string {
  const own = `${source.name}_${name}`;
  const other = `${target.name}_${inverse ?? ""}`;
  return inverse !== undefined && other < own ? other : own;
}

/** The name of a manyToMany relation, after which Prisma calls its table. */
export function linkName(relation: ResolvedRelation): string {
  return distinctName(firstSide(relation), MAX_LINK_NAME);
}

/** Prisma's name for the table of a manyToMany relation. */
export function linkTableName(name: string): string {
  return `_${name}`;
}
