import {
  type AnyEntity,
  type EntityModel,
  linkName,
  linkTableName,
  type ResolvedRelation,
} from "../../../entity/index.ts";
import { tableOf } from "./table-names.ts";

/** The table of a manyToMany relation, and the columns of its two ends. */
export interface LinkTable {
  readonly table: string;
  /** The table's name in statements, without its schema. */
  readonly called: string;
  readonly own: string;
  readonly other: string;
  /** Whether the table existed before the app, with custom names. */
  readonly existing: boolean;
}

/** The table of pairs in a statement, with its alias. */
export function pairSource({ table, called }: LinkTable): string {
  return table === called ? table : `${table} as ${called}`;
}

const found = new WeakMap<ResolvedRelation, LinkTable>();

/**
 * Returns the table of a relation, computed once. Prisma's first column is for the model whose name sorts first, or the
 * field if both models are the same.
 */
export function linkTable(relation: ResolvedRelation): LinkTable {
  let known = found.get(relation);
  if (known === undefined) {
    const { source, target, name, through } = relation;
    if (through !== undefined) {
      const { schema, table: called, own, other } = through;
      const table = schema === undefined ? called : `${schema}.${called}`;
      known = Object.freeze({ table, called, own, other, existing: true });
      found.set(relation, known);
      return known;
    }
    const isFirst = source === target ? name < otherSideName(relation) : source.name < target.name;
    const table = linkTableName(linkName(relation));
    const ends = isFirst ? { own: "A", other: "B" } : { own: "B", other: "A" };
    known = Object.freeze({ table, called: table, ...ends, existing: false });
    found.set(relation, known);
  }
  return known;
}

/** Returns one relation per table of pairs. */
export function linkRelations(model: EntityModel): readonly ResolvedRelation[] {
  const relations = model.entities
    .flatMap((entity) => model.relationsOf(entity))
    .filter(({ type, remote }) => type === "manyToMany" && remote === undefined);
  return [...new Map(relations.map((relation) => [linkTable(relation).table, relation])).values()];
}

/** The relations whose tables Keelson manages. */
export function managedLinks(model: EntityModel): readonly ResolvedRelation[] {
  return linkRelations(model).filter(
    (relation) => isManaged(relation.source) && isManaged(relation.target) && !linkTable(relation).existing,
  );
}

/** Whether Keelson manages the table of an entity. */
export function isManaged({ existing }: AnyEntity): boolean {
  return !existing;
}

/** The names of all tables that Keelson manages: one per entity, and one per manyToMany relation. */
export function tableNames(model: EntityModel): readonly string[] {
  const tables = model.entities.filter(isManaged).map(tableOf);
  return [...tables, ...managedLinks(model).map((links) => linkTable(links).table)];
}

/** The name of an undeclared relation side. Declared names have no double underscores, so it cannot clash with one. */
export function hiddenName({ source, name }: ResolvedRelation): string {
  return `${source.name}__${name}`;
}

/**
 * The name of the other side of a manyToMany relation, declared or not. If both sides belong to the same model,
 * Prisma's first column is for the field that sorts first, so an undeclared side must sort last.
 */
export function otherSideName(relation: ResolvedRelation): string {
  const { source, target, name, inverse } = relation;
  return inverse ?? (source === target ? `${name}___${source.name}` : hiddenName(relation));
}
