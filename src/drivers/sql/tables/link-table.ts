import { createHash } from "node:crypto";
import type { AnyEntity, EntityModel, ResolvedRelation } from "../../../entity/index.ts";
import { tableOf } from "./table-names.ts";
import { MAX_NAME } from "./unique-keys.ts";

/** The table of a manyToMany relation, and which of its two columns holds which end. */
export interface LinkTable {
  readonly table: string;
  /** What statements call it: the table without its schema. */
  readonly called: string;
  readonly own: string;
  readonly other: string;
  /** Whether it was there before the app, under names of its own. */
  readonly existing: boolean;
}

/** What a statement reads or writes pairs in. */
export function pairSource({ table, called }: LinkTable): string {
  return table === called ? table : `${table} as ${called}`;
}

const found = new WeakMap<ResolvedRelation, LinkTable>();

/** Worked out once per relation: Prisma's first column is for the model that comes first, or its field. */
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

/** One relation per table of pairs. */
export function linkRelations(model: EntityModel): readonly ResolvedRelation[] {
  const relations = model.entities
    .flatMap((entity) => model.relationsOf(entity))
    .filter(({ type, remote }) => type === "manyToMany" && remote === undefined);
  return [...new Map(relations.map((relation) => [linkTable(relation).table, relation])).values()];
}

/** Those of tables that Keelson makes. */
export function managedLinks(model: EntityModel): readonly ResolvedRelation[] {
  return linkRelations(model).filter(
    (relation) => isManaged(relation.source) && isManaged(relation.target) && !linkTable(relation).existing,
  );
}

/** Whether Keelson makes the table of an entity. */
export function isManaged({ existing }: AnyEntity): boolean {
  return !existing;
}

/** Names of all tables that Keelson makes: one per entity, and one per manyToMany relation. */
export function tableNames(model: EntityModel): readonly string[] {
  const tables = model.entities.filter(isManaged).map(tableOf);
  return [...tables, ...managedLinks(model).map((links) => linkTable(links).table)];
}

/** The declared side of a manyToMany relation that comes first. */
export function firstSide({ source, target, name, inverse }: ResolvedRelation): string {
  const own = `${source.name}_${name}`;
  const other = `${target.name}_${inverse ?? ""}`;
  return inverse !== undefined && other < own ? other : own;
}

/** The name of a manyToMany relation, after which Prisma calls its table; a name that is too long ends in a hash. */
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

/** Names have no double underscores, so this one cannot clash with a declared field. */
export function hiddenName({ source, name }: ResolvedRelation): string {
  return `${source.name}__${name}`;
}

/**
 * The name of the other side of a manyToMany relation, whether an entity declares it or not. Prisma's first column is for
 * the field that comes first where both are of one model, so there an undeclared side has to come last.
 */
export function otherSideName(relation: ResolvedRelation): string {
  const { source, target, name, inverse } = relation;
  return inverse ?? (source === target ? `${name}___${source.name}` : hiddenName(relation));
}
