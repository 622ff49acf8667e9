import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";

// Statements use the entity's name as the table's alias, so that the database's name appears only where the table is
// introduced.

/** The table of an INSERT, with its schema. */
export function tableOf({ name, table }: AnyEntity): string {
  if (table === undefined) return name;
  return table.schema === undefined ? table.name : `${table.schema}.${table.name}`;
}

/** The table of other statements, with an alias if the names differ. */
export function sourceOf(entity: AnyEntity, calledHere: string = entity.name): string {
  const table = tableOf(entity);
  return table === calledHere ? table : `${table} as ${calledHere}`;
}

/** Whether an entity has composite ids. */
export function isComposite({ columns }: AnyEntity): boolean {
  return columns.id?.parts !== undefined;
}

/** The name of a column in the database. */
export function storedName({ columns }: AnyEntity, name: string): string {
  return (columns[name] as ColumnDefinition).stored;
}
