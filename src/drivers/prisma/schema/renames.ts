import {
  type AnyEntity,
  blindIndexOf,
  type ColumnDefinition,
  ConfigurationError,
  type EntityModel,
  type Provider,
  type ResolvedRelation,
  searchColumnOf,
} from "../../../entity/index.ts";
import { type Catalog, linkTable, managedLinks, shortName, tableNames } from "../../sql/index.ts";
import {
  type FormerLink,
  formerLinks,
  formerModels,
  isAlongside,
  ownColumnIn,
  plainTableName,
} from "./former-links.ts";

/** A rename in the database. */
export interface Rename {
  readonly kind: "rename-table" | "rename-column";
  readonly sentence: string;
  readonly statements: readonly string[];
}

/** The findings while names are compared. */
interface Findings {
  readonly renames: Rename[];
  readonly problems: string[];
}

/**
 * The renames of `.renamedFrom()` that have not been applied to the database, and those of tables of pairs whose name
 * has changed, in the order in which to apply them.
 * @throws ConfigurationError when the database has both names
 */
export function renamesOf(model: EntityModel, catalog: Catalog, provider: Provider): readonly Rename[] {
  const findings: Findings = { renames: [], problems: [] };
  for (const entity of model.entities) entityRename(entity, catalog, findings);
  linkRenames(model, catalog, provider, findings);
  for (const entity of model.entities) columnRenames(entity, catalog, findings);
  if (findings.problems.length > 0) throw new ConfigurationError(findings.problems);
  return findings.renames;
}

function entityRename({ name, renamedFrom }: AnyEntity, catalog: Catalog, { renames, problems }: Findings): void {
  if (renamedFrom === undefined || !catalog.has(renamedFrom)) return;
  if (catalog.has(name))
    problems.push(
      `${name}.renamedFrom("${renamedFrom}"): the database has both tables; move the rows and drop "${renamedFrom}", or remove .renamedFrom()`,
    );
  else
    renames.push({
      kind: "rename-table",
      sentence: `table "${renamedFrom}" is renamed to "${name}"`,
      statements: [renameTable(renamedFrom, name)],
    });
}

/** The former names of a column. A foreign key is named after its relation, unless it has its own name. */
function formerColumns(entity: AnyEntity, { role, field, of, relation }: ColumnDefinition): readonly string[] {
  if (role === "field") return field?.renamedFrom === undefined ? [] : [field.renamedFrom];
  if (of !== undefined) {
    const from = entity.fields[of]?.renamedFrom;
    return from === undefined ? [] : [role === "words" ? searchColumnOf(from) : blindIndexOf(from)];
  }
  const from = role === "foreignKey" ? entity.relations[relation as string]?.renamedFrom : undefined;
  return from === undefined ? [] : [`${from}Id`, from];
}

/** Finds renamed columns. Checks the table under its current or former name; tables are renamed before columns. */
function columnRenames(entity: AnyEntity, catalog: Catalog, { renames, problems }: Findings): void {
  const { name: table, renamedFrom } = entity;
  const existing = catalog.get(table) ?? (renamedFrom === undefined ? undefined : catalog.get(renamedFrom));
  if (existing === undefined) return;
  for (const column of Object.values(entity.columns)) {
    const from = formerColumns(entity, column).find((old) => existing.has(old) && !Object.hasOwn(entity.columns, old));
    if (from === undefined) continue;
    if (existing.has(column.name))
      problems.push(
        `${table}.${column.name}: the database has this column and "${from}", which it is renamed from; move the values and drop "${from}", or remove .renamedFrom()`,
      );
    else
      renames.push({
        kind: "rename-column",
        sentence: `table "${table}": column "${from}" is renamed to "${column.name}"`,
        statements: [renameColumn(table, from, column.name)],
      });
  }
}

/** Statements that rename the primary key, which the engine cannot rename together with the columns. */
function newKey(from: string, to: string): readonly string[] {
  const [before, after] = [shortName(from, "_AB_pkey"), shortName(to, "_AB_pkey")];
  return [
    ...[...new Set([before, after])].map((name) => `ALTER TABLE "${to}" DROP CONSTRAINT IF EXISTS "${name}"`),
    `ALTER TABLE "${to}" ADD CONSTRAINT "${after}" PRIMARY KEY ("A", "B")`,
  ];
}

/**
 * Swaps the columns of a table of pairs: Prisma's first column is for the model whose name sorts first, and the names
 * have changed.
 */
function swapColumns(from: string, to: string, provider: Provider): readonly string[] {
  // Indexes named after a column are dropped, because the other column's index takes that name; the engine creates them
  // again.
  const keys = ["_A_fkey", "_B_fkey"].map(
    (suffix) => `ALTER TABLE "${to}" DROP CONSTRAINT IF EXISTS "${shortName(from, suffix)}"`,
  );
  const indexes = ["_AB_unique", "_B_index"].map((suffix) => `DROP INDEX IF EXISTS "${shortName(from, suffix)}"`);
  return [
    ...(provider === "postgresql" ? keys : []),
    ...indexes,
    renameColumn(to, "A", "_"),
    renameColumn(to, "B", "A"),
    renameColumn(to, "_", "B"),
  ];
}

function moved(from: FormerLink, relation: ResolvedRelation, provider: Provider): readonly string[] {
  const { table, own } = linkTable(relation);
  return [
    ...(from.table === table ? [] : [renameTable(from.table, table)]),
    ...(from.own === own ? [] : swapColumns(from.table, table, provider)),
    ...(provider === "postgresql" ? newKey(from.table, table) : []),
  ];
}

/** The problem that several relations connect the two entities and the table does not show which one it belongs to. */
function undecided(relation: ResolvedRelation): string {
  const plain = plainTableName(relation);
  return `${relation.source.name}.${relation.name}: the database has the table "${plain}" from when one relation connected the two entities; say which one it was with .renamedFrom("${plain.slice(1)}")`;
}

/** Finds renamed tables of pairs. */
function linkRenames(model: EntityModel, catalog: Catalog, provider: Provider, { renames, problems }: Findings): void {
  const relations = managedLinks(model);
  const former = formerModels(model);
  const wanted = new Set(tableNames(model));
  const isLeft = (table: string): boolean => catalog.has(table) && !wanted.has(table);
  for (const relation of relations) {
    const { table, own } = linkTable(relation);
    const { name, source } = relation;
    const old = formerLinks({ model, former, catalog }, relation).find((link) => isLeft(link.table));
    if (!catalog.has(table)) {
      if (old === undefined) continue;
      wanted.add(old.table); // so that no other relation takes it
      renames.push({
        kind: "rename-table",
        sentence: `table "${old.table}" is renamed to "${table}"`,
        statements: moved(old, relation, provider),
      });
      continue;
    }
    if (old?.asked === true)
      problems.push(
        `${source.name}.${name}: the database has both tables "${old.table}" and "${table}"; move the rows and drop "${old.table}", or remove .renamedFrom()`,
      );
    const current = { table, own: ownColumnIn(catalog, relation), asked: true };
    if (current.own !== own)
      renames.push({
        kind: "rename-column",
        sentence: `table "${table}": its two columns change places`,
        statements: moved(current, relation, provider),
      });
  }
  const isUndecided = (relation: ResolvedRelation): boolean =>
    isLeft(plainTableName(relation)) && !catalog.has(linkTable(relation).table);
  for (const relation of relations.filter(isUndecided))
    if (relations.some((other) => other !== relation && isAlongside(other, relation)))
      problems.push(undecided(relation));
}

function renameTable(from: string, to: string): string {
  return `ALTER TABLE "${from}" RENAME TO "${to}"`;
}

function renameColumn(table: string, from: string, to: string): string {
  return `ALTER TABLE "${table}" RENAME COLUMN "${from}" TO "${to}"`;
}
