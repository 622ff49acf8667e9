/** A name in the database that is to become another one. */
export interface Rename {
  readonly kind: "rename-table" | "rename-column";
  readonly sentence: string;
  readonly statements: readonly string[];
}

/** What is found out while names are compared. */
export interface Findings {
  readonly renames: Rename[];
  readonly problems: string[];
}

export function renameTable(from: string, to: string): string {
  return `ALTER TABLE "${from}" RENAME TO "${to}"`;
}

export function renameColumn(table: string, from: string, to: string): string {
  return `ALTER TABLE "${table}" RENAME COLUMN "${from}" TO "${to}"`;
}
