import { isFreeName } from "../../entity/index.ts";
import { camelCase, pascalCase, singularize } from "../../kernel/index.ts";
import type { TableColumn, TableShape } from "./database-shape.ts";

/** Names entities after their tables, in the singular, without a prefix that all tables share. */
export function entityNames(tables: readonly TableShape[]): ReadonlyMap<TableShape, string> {
  const prefix = sharedPrefix(tables.map(({ name }) => name));
  const taken = new Set<string>();
  return new Map(
    tables.map((table) => {
      const bare = camelCase(singularize(table.name.slice(prefix.length)));
      const wanted = /^[a-z]/i.test(bare) ? bare : `table${pascalCase(bare)}`;
      let name = taken.has(wanted) && table.schema !== undefined ? camelCase(`${table.schema} ${wanted}`) : wanted;
      for (let next = 2; taken.has(name); next++) name = `${wanted}${next}`;
      taken.add(name);
      return [table, name];
    }),
  );
}

/** A prefix with an underscore that all names share, if there are at least three. */
function sharedPrefix(names: readonly string[]): string {
  const [first = ""] = names;
  const prefix = /^[^_]+_/.exec(first)?.[0] ?? "";
  return names.length >= 3 &&
    prefix !== "" &&
    names.every((name) => name.startsWith(prefix) && name.length > prefix.length)
    ? prefix
    : "";
}

/** The pair of columns with the times of creation and last update. */
export function timestampsOf(
  columns: readonly TableColumn[],
): { readonly columns: readonly string[]; readonly call: string | undefined } | undefined {
  const find = (pattern: RegExp): string | undefined =>
    columns.find(
      ({ name, type, required, isComputed }) =>
        pattern.test(name) && /^(timestamp|datetime)/.test(type) && required && !isComputed,
    )?.name;
  const createdAt = find(/^(created_?at|date_created|created_?on)$/i);
  const updatedAt = find(/^(updated_?at|modified_?at|changed_?at|date_updated|updated_?on)$/i);
  if (createdAt === undefined || updatedAt === undefined) return undefined;
  const isUsual = createdAt === "createdAt" && updatedAt === "updatedAt";
  const names = `{ createdAt: ${JSON.stringify(createdAt)}, updatedAt: ${JSON.stringify(updatedAt)} }`;
  return { columns: [createdAt, updatedAt], call: isUsual ? undefined : `timestamps(${names})` };
}

export function isAloneUnique({ uniques }: TableShape, column: string): boolean {
  return uniques.some(({ columns, special }) => special === undefined && columns.length === 1 && columns[0] === column);
}

/** Finds a name that is free in the entity. @param besides returns a further name that is reserved with it */
export function freeName(
  { taken }: { readonly taken: Set<string> },
  wanted: string,
  suffix: string,
  besides: (name: string) => string = (name) => name,
): string {
  const start = /^[a-z]/i.test(wanted) ? wanted : `column${pascalCase(wanted)}`;
  const isFree = (name: string): boolean =>
    isFreeName(name) && isFreeName(besides(name)) && !taken.has(name) && !taken.has(besides(name));
  let name = start;
  for (let next = 1; !isFree(name); next++) name = `${start}${suffix}${next === 1 ? "" : next}`;
  taken.add(name);
  taken.add(besides(name));
  return name;
}

const WORDS = new Set(
  "break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static await async of entity".split(
    " ",
  ),
);

/** The name of an entity's constant. */
export function variableOf(name: string): string {
  return WORDS.has(name) || CONSTRUCTORS.has(name) ? `${name}Entity` : name;
}

/** Names that the files import from the package. */
const CONSTRUCTORS = new Set(
  "belongsTo bigint bool bytes date datetime decimal enums float hasMany hasOne int json manyToMany selfRef string text time uuid".split(
    " ",
  ),
);
