import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";

// Statements call a table by the entity's name, so that only their first mention of it says what the database calls it.

/** What an INSERT writes to: the table, with its schema. */
export function tableOf({ name, table }: AnyEntity): string {
  if (table === undefined) return name;
  return table.schema === undefined ? table.name : `${table.schema}.${table.name}`;
}

/** What other statements read and write: the table, under another name where the statement calls it so. */
export function sourceOf(entity: AnyEntity, calledHere: string = entity.name): string {
  const table = tableOf(entity);
  return table === calledHere ? table : `${table} as ${calledHere}`;
}

/** Whether the ids of an entity consist of other columns. */
export function isComposite({ columns }: AnyEntity): boolean {
  return columns.id?.parts !== undefined;
}

/** What the database calls a column. */
export function storedName({ columns }: AnyEntity, name: string): string {
  return (columns[name] as ColumnDefinition).stored;
}
