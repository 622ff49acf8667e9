import { type AwkwardSchema, type Columns, type Database, FORMS, type Table, TYPES } from "./random-schemas.ts";

/** Numbers from 0 to 1 that are the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function uuidFrom(random: () => number): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The statements of a schema, with rows; names are in double quotes. */
export function statementsOf({ tables, after }: AwkwardSchema, database: Database, random: () => number): string[] {
  const keys = new Map<string, (string | number)[]>();
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const bare = (type: string): string => type.replace(/\?$/, "");
  const targetOf = (type: string): Table | undefined =>
    type.startsWith(">") ? tables.find(({ name }) => name === bare(type).slice(1)) : undefined;
  const keyOf = (table: Table): string => Object.keys(table.columns)[0] as string;
  const typeOf = (type: string): string => {
    const target = targetOf(type);
    const word = target === undefined ? bare(type) : (target.columns[keyOf(target)] as string);
    const found = (TYPES[word] as Columns)[database];
    return target === undefined ? found : found.replace("serial", "integer").replace(" auto_increment", "");
  };
  function writtenValue(type: string, row: number): string {
    const word = bare(type);
    const target = targetOf(type);
    const isEmpty = target !== undefined && !keys.has(target.name);
    if (type.endsWith("?") && (isEmpty || random() < 0.25)) return "null";
    if (target !== undefined) return literal(one(keys.get(target.name) ?? [1]));
    if (word === "serial") return String(row);
    if (word === "key") return literal(`${one(["k", "K", "ü", "a~", "%", " "])}${row}`);
    if (word === "uuid") return literal(uuidFrom(random));
    if (word === "list") return database === "PostgreSQL" ? one(["'{}'", "'{a,\"b c\",null}'"]) : "'[]'";
    const values = (TYPES[word] as { values: readonly (string | number)[] }).values;
    const value = one(word === "forms" && database === "SQLite" ? FORMS : values);
    if (word === "flag" && database === "PostgreSQL") return value === 1 ? "true" : "false";
    if (word === "bytes") return database === "PostgreSQL" ? `'\\x${value}'` : `x'${value}'`;
    if (["big", "price"].includes(word)) return String(value);
    return word === "zoned" && database === "PostgreSQL" ? `'${value}+00'` : literal(value);
  }
  const hasMoods = tables.some(({ columns }) => Object.values(columns).some((type) => bare(type) === "mood"));
  const statements =
    database === "PostgreSQL" && hasMoods ? ["create type mood as enum ('sad', 'ok', 'very happy')"] : [];
  const rowsOf: string[] = [];
  const closing: string[] = [];
  for (const table of tables) {
    const { name, columns, key = [keyOf(table)], rest = [], later = {}, rows = 30 } = table;
    const lines = Object.entries(columns).map(
      ([column, type]) => `"${column}" ${typeOf(type)}${type.endsWith("?") ? "" : " not null"}`,
    );
    const references = Object.entries(columns).flatMap(([column, type]) => {
      const target = targetOf(type);
      return target === undefined ? [] : [`foreign key ("${column}") references "${target.name}" ("${keyOf(target)}")`];
    });
    const circle = Object.entries(later).map(([column, to]) => {
      const target = tables.find((one) => one.name === to) as Table;
      return `foreign key ("${column}") references "${to}" ("${keyOf(target)}")`;
    });
    if (database !== "SQLite") closing.push(...circle.map((key) => `alter table "${name}" add ${key}`));
    for (const column of Object.keys(later))
      closing.push(`update "${name}" set "${column}" = "${keyOf(table)}" where "${keyOf(table)}" % 3 = 0`);
    const primary = key.length === 0 ? [] : [`primary key (${key.map((column) => `"${column}"`).join(", ")})`];
    statements.push(
      `create table "${name}" (${[...lines, ...primary, ...references, ...(database === "SQLite" ? circle : []), ...rest].join(", ")})`,
    );
    const taken = new Set<string>();
    for (let row = 1; row <= rows; row++) {
      const values = Object.entries(columns).map(([column, type]) =>
        Object.hasOwn(later, column) ? "null" : writtenValue(type, row),
      );
      // Unique keys, also if case and trailing spaces are ignored.
      const id = key
        .map((column) => values[Object.keys(columns).indexOf(column)])
        .join("~")
        .toLowerCase();
      if (key.length > 0 && taken.has(id)) continue;
      taken.add(id);
      const list = Object.keys(columns)
        .map((column) => `"${column}"`)
        .join(", ");
      rowsOf.push(`insert into "${name}" (${list}) values (${values.join(", ")})`);
      const own = (values[0] as string).replace(/^'|'$/g, "");
      keys.set(name, [...(keys.get(name) ?? []), own]);
    }
  }
  return [...statements, ...rowsOf, ...closing, ...(after?.(database) ?? [])];
}

export function literal(value: string | number): string {
  return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
