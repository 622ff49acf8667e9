import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import { type Catalog, type ColumnShape, columnTypeOf, isWidening } from "../../sql/index.ts";
import { type Difference, readOutline, type Sign } from "../engine/differences.ts";
import { defaultAttribute } from "../schema/column-defaults.ts";
import type { Rename } from "../schema/renames.ts";
import type { SchemaChange, SchemaChangeKind } from "./migrations.ts";

/** The input of the comparison. */
export interface Comparison {
  readonly model: EntityModel;
  readonly provider: "sqlite" | "postgresql";
  readonly renames: readonly Rename[];
  /** The tables after the renames. */
  readonly catalog: Catalog;
  /** The engine's outline of the differences. */
  readonly outline: string;
}

/** Describes every change in one sentence, destructive changes first. */
export function describeChanges({ model, provider, renames, catalog, outline }: Comparison): readonly SchemaChange[] {
  const changes: SchemaChange[] = renames.map(({ kind, sentence }) => change(kind, sentence));
  const compared = new Set<string>();
  for (const difference of readOutline(outline)) {
    if (difference.of === "whole") {
      changes.push(wholeChange(difference));
      continue;
    }
    const { table } = difference;
    const entity = model.get(table);
    const existing = catalog.get(table);
    const columns = compared.has(table) || !entity || !existing ? [] : columnChanges(entity, existing, provider);
    compared.add(table);
    changes.push(...columns);
    const own =
      difference.of === "part"
        ? partChange(difference)
        : columns.length === 0
          ? change("other", `table "${table}" is made anew: its keys or defaults change`)
          : undefined;
    if (own !== undefined) changes.push(own);
  }
  return Object.freeze([
    ...changes.filter(({ destructive }) => destructive),
    ...changes.filter(({ destructive }) => !destructive),
  ]);
}

function change(kind: SchemaChangeKind, sentence: string, destructive = false): SchemaChange {
  return Object.freeze({ kind, sentence, destructive });
}

function wholeChange({ sign, what, name }: Difference & { readonly of: "whole" }): SchemaChange {
  if (what !== "table") return change("other", `${what} "${name}" ${sign === "+" ? "is made" : "is dropped"}`);
  if (sign === "+") return change("create-table", `table "${name}" is made`);
  return change("drop-table", `table "${name}" is dropped with its rows`, true);
}

function alteredColumn(at: string, was: ColumnShape, type: string, required: boolean): SchemaChange[] {
  const changes: SchemaChange[] = [];
  if (was.type !== type)
    changes.push(change("alter-column", `${at} changes from ${was.type} to ${type}`, !isWidening(was.type, type)));
  if (required && !was.required)
    changes.push(change("alter-column", `${at} becomes required; rows without a value stop the change`));
  if (!required && was.required) changes.push(change("alter-column", `${at} becomes optional`));
  return changes;
}

/** Added, dropped and altered columns. The engine reports these for one of the databases only. */
function columnChanges(
  entity: AnyEntity,
  existing: ReadonlyMap<string, ColumnShape>,
  provider: Comparison["provider"],
) {
  const changes: SchemaChange[] = [];
  const added = Object.values(entity.columns).filter(({ name }) => !existing.has(name));
  for (const column of Object.values(entity.columns)) {
    const at = `table "${entity.name}": column "${column.name}"`;
    const type = columnTypeOf(column.kind.column, provider);
    const was = existing.get(column.name);
    if (was !== undefined) changes.push(...alteredColumn(at, was, type, !column.optional));
    else if (column.optional || defaultAttribute(column, provider) !== undefined)
      changes.push(change("add-column", `${at} is added`));
    else changes.push(change("add-column", `${at} is added, required and without a default: rows stop the change`));
  }
  for (const [name, { type }] of existing) {
    if (Object.hasOwn(entity.columns, name)) continue;
    const heir = added.find(({ role, kind }) => role === "field" && columnTypeOf(kind.column, provider) === type);
    const hint = heir === undefined ? "" : renameHint(name, heir.name);
    const sentence = `table "${entity.name}": column "${name}" is dropped with its values${hint}`;
    changes.push(change("drop-column", sentence, true));
  }
  return changes;
}

/** A hint for a renamed field, which looks like a dropped and an added one. */
function renameHint(former: string, name: string): string {
  return `; if "${name}" is its new name, add .renamedFrom("${former}") to that field`;
}

const VERBS: Readonly<Record<Sign, string>> = { "+": "gets", "-": "loses", "*": "changes" };

/** A change to a table that the engine reports, other than to its columns. */
function partChange({ sign, table, text }: Difference & { readonly of: "part" }): SchemaChange | undefined {
  if (/^(Added|Removed|Dropped) column/.test(text)) return undefined;
  const column = /^Altered column `([^`]*)` \((.*)\)/.exec(text);
  if (column !== null)
    return column[2]?.includes("default changed")
      ? change("alter-column", `table "${table}": the default of column "${column[1]}" changes`)
      : undefined;
  const what = text.replace(/^(Added|Removed|Renamed|Altered) /, "").replace(/`([^`]*)`/g, '"$1"');
  if (!/index/.test(text)) return change("other", `table "${table}" ${VERBS[sign]} ${what}`);
  const kind = { "+": "create-index", "-": "drop-index", "*": "rename-index" } as const;
  return change(kind[sign], `table "${table}" ${VERBS[sign]} ${what}`);
}
