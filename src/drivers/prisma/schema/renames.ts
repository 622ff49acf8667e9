import {
  type AnyEntity,
  blindIndexOf,
  type ColumnDefinition,
  ConfigurationError,
  type EntityModel,
  type Provider,
} from "../../../entity/index.ts";
import type { Catalog } from "./catalog.ts";
import { linkRenames } from "./link-renames.ts";
import { type Findings, type Rename, renameColumn, renameTable } from "./rename.ts";

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

/**
 * What `.renamedFrom()` asks for and the database does not have yet, and tables of pairs that go by another name than they
 * did, in the order in which it can be done.
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
