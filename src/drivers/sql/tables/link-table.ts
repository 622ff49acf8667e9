import type { EntityModel, ResolvedRelation } from "../../../entity/index.ts";
import { linkName, linkTableName, otherSideName } from "./link-name.ts";

/** The table of a manyToMany relation, and which of its two columns holds which end. */
export interface LinkTable {
  readonly table: string;
  readonly own: "A" | "B";
  readonly other: "A" | "B";
}

const found = new WeakMap<ResolvedRelation, LinkTable>();

/** Worked out once per relation: Prisma's first column is for the model that comes first, or its field. */
export function linkTable(relation: ResolvedRelation): LinkTable {
  let known = found.get(relation);
  if (known === undefined) {
    const { source, target, name } = relation;
    const isFirst = source === target ? name < otherSideName(relation) : source.name < target.name;
    const table = linkTableName(linkName(relation));
    known = Object.freeze(isFirst ? { table, own: "A", other: "B" } : { table, own: "B", other: "A" });
    found.set(relation, known);
  }
  return known;
}

/** One relation per table of pairs. */
export function linkRelations(model: EntityModel): readonly ResolvedRelation[] {
  const relations = model.entities
    .flatMap((entity) => model.relationsOf(entity))
    .filter(({ type, remote }) => type === "manyToMany" && remote === undefined);
  return [...new Map(relations.map((relation) => [linkTable(relation).table, relation])).values()];
}
