import type { TableColumn, TableShape } from "./database-shape.ts";
import type { FieldCode } from "./field-of.ts";

/** The id of an entity, or the reason why it cannot have one. */
export type ChosenId =
  | { readonly column: TableColumn; readonly call: string; readonly maker: string }
  | { readonly parts: readonly TableColumn[] }
  | { readonly why: string };

/** The constructors for ids, with the default source of such ids. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["int", "database"],
  ["bigint", "database"],
  ["uuid", "keelson"],
  ["string", "caller"],
  ["text", "caller"],
]);
/** The constructors of columns in composite ids. */
const PARTS: ReadonlySet<string> = new Set(["string", "text", "int", "bigint", "uuid", "date", "enums"]);

/** Chooses the id of a table: its key, or otherwise a unique column; for a view, a column named "id". */
export function chooseId(table: TableShape, fieldOf: (column: TableColumn) => FieldCode | undefined): ChosenId {
  const { key, columns, uniques, isView } = table;
  const named = (name: string | undefined): TableColumn | undefined => columns.find((column) => column.name === name);
  if (key.length > 1) {
    const parts = key.flatMap((name) => named(name) ?? []);
    const odd = parts.find((part) => !PARTS.has(fieldOf(part)?.maker ?? ""));
    return odd === undefined ? { parts } : { why: `the column "${odd.name}" of its key has the type ${odd.type}` };
  }
  const single = uniques.find((unique) => unique.columns.length === 1 && unique.special === undefined)?.columns[0];
  const viewId = columns.find((column) => column.name.toLowerCase() === "id");
  const column = isView ? viewId : named(key[0] ?? single);
  if (column === undefined || !(column.required || isView))
    return { why: isView ? 'it is a view without a column "id"' : "it has no key" };
  const field = fieldOf(column);
  if (field === undefined || !KINDS.has(field.maker))
    return { why: `its key "${column.name}" has the type ${column.type}` };
  const maker = field.maker === "text" ? "string" : field.maker;
  const isMade = column.isCounted || (column.default !== undefined && maker === "uuid");
  const isOurs = maker === "uuid" || column.isAppMade === true;
  const from = isMade ? "database" : isOurs ? "keelson" : "caller";
  const options = from === KINDS.get(maker) || isView ? "" : `, { from: ${JSON.stringify(from)} }`;
  const code = `${maker}${column.name === "id" ? "" : `.column(${JSON.stringify(column.name)})`}`;
  return { column, maker, call: `id(${code}${options})` };
}
