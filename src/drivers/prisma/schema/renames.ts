import {
  type AnyEntity,
  blindIndexOf,
  type ColumnDefinition,
  ConfigurationError,
  type EntityModel,
  type Provider,
  type ResolvedRelation,
} from "../../../entity/index.ts";
import type { Catalog } from "./catalog.ts";
import { shortName } from "./constraint-name.ts";
import { type FormerNames, formerModel } from "./former-model.ts";
import { type LinkTable, linkTable } from "./link-table.ts";

/** A name in the database that is to become another one. */
export interface Rename {
  readonly kind: "rename-table" | "rename-column";
  readonly sentence: string;
  readonly statements: readonly string[];
}

/** What is found out while names are compared. */
interface Findings {
  readonly renames: Rename[];
  readonly problems: string[];
}

const renameTable = (from: string, to: string): string => `ALTER TABLE "${from}" RENAME TO "${to}"`;
const renameColumn = (table: string, from: string, to: string): string =>
  `ALTER TABLE "${table}" RENAME COLUMN "${from}" TO "${to}"`;

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

/** What a column may have been called; a key is called after its relation, unless it has a name of its own. */
function formerColumns(entity: AnyEntity, { role, field, of, relation }: ColumnDefinition): readonly string[] {
  if (role === "field") return field?.renamedFrom === undefined ? [] : [field.renamedFrom];
  if (role === "blindIndex") {
    const from = entity.fields[of as string]?.renamedFrom;
    return from === undefined ? [] : [blindIndexOf(from)];
  }
  const from = role === "foreignKey" ? entity.relations[relation as string]?.renamedFrom : undefined;
  return from === undefined ? [] : [`${from}Id`, from];
}

/** Looks at the table under whichever name it still has; its new one is in place when columns are renamed. */
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

/** Both names may have changed, or one of them before the other. */
const FORMER: readonly FormerNames[] = [
  { entities: true, relations: true },
  { entities: true, relations: false },
  { entities: false, relations: true },
];

/** The link table of a relation as it was called with some of the former names. */
function formerLink(model: EntityModel, relation: ResolvedRelation, names: FormerNames): LinkTable | undefined {
  const { source, name } = relation;
  const former = formerModel(model, names);
  const entity = former.get((names.entities ? source.renamedFrom : undefined) ?? source.name);
  const formerName = (names.relations ? source.relations[name]?.renamedFrom : undefined) ?? name;
  const found = entity && former.relation(entity, formerName);
  return found && linkTable(former, found);
}

/** The engine cannot give this key its new name together with the columns. */
function newKey(from: string, to: string): readonly string[] {
  const nameOf = (table: string): string => shortName(table, "_AB_pkey");
  return [
    `ALTER TABLE "${to}" DROP CONSTRAINT IF EXISTS "${nameOf(from)}"`,
    `ALTER TABLE "${to}" ADD CONSTRAINT "${nameOf(to)}" PRIMARY KEY ("A", "B")`,
  ];
}

function linkRenames(model: EntityModel, catalog: Catalog, provider: Provider, { renames, problems }: Findings): void {
  const seen = new Set<string>();
  for (const relation of model.entities.flatMap((entity) => model.relationsOf(entity))) {
    if (relation.type !== "manyToMany" || relation.remote !== undefined) continue;
    const { table, own } = linkTable(model, relation);
    if (seen.has(table)) continue;
    seen.add(table);
    const old = FORMER.map((names) => formerLink(model, relation, names)).find(
      (link) => link !== undefined && link.table !== table && catalog.has(link.table),
    );
    if (old === undefined) continue;
    if (catalog.has(table)) {
      problems.push(
        `${relation.source.name}.${relation.name}: the database has both tables "${old.table}" and "${table}"; move the rows and drop "${old.table}", or remove .renamedFrom()`,
      );
      continue;
    }
    // Prisma's first column is for the model that comes first by name, and the names have changed.
    const swapped = [renameColumn(table, "A", "_"), renameColumn(table, "B", "A"), renameColumn(table, "_", "B")];
    const columns = old.own === own ? [] : swapped;
    const keys = provider === "postgresql" ? newKey(old.table, table) : [];
    renames.push({
      kind: "rename-table",
      sentence: `table "${old.table}" is renamed to "${table}"`,
      statements: [renameTable(old.table, table), ...columns, ...keys],
    });
  }
}

function hasFormerNames({ renamedFrom, fields, relations }: AnyEntity): boolean {
  const members = [...Object.values(fields), ...Object.values(relations)];
  return renamedFrom !== undefined || members.some((member) => member.renamedFrom !== undefined);
}

/**
 * What `.renamedFrom()` asks for and the database does not have yet, in the order in which it can be done.
 * @throws ConfigurationError when the database has both names
 */
export function renamesOf(model: EntityModel, catalog: Catalog, provider: Provider): readonly Rename[] {
  if (!model.entities.some(hasFormerNames)) return [];
  const findings: Findings = { renames: [], problems: [] };
  for (const entity of model.entities) entityRename(entity, catalog, findings);
  linkRenames(model, catalog, provider, findings);
  for (const entity of model.entities) columnRenames(entity, catalog, findings);
  if (findings.problems.length > 0) throw new ConfigurationError(findings.problems);
  return findings.renames;
}
