import { type CatalogRow, grouped, ON_DELETE, type Query, textOf } from "./catalog-rows.ts";
import type { DatabaseShape, Reference, TableColumn, TableIndex, TableShape } from "./database-shape.ts";

const OWN = String.raw`m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`;
const TABLES = `SELECT m.name, m.type AS kind, m.sql FROM sqlite_master m WHERE m.type IN ('table', 'view') AND ${OWN} ORDER BY m.name`;
const COLUMNS = `SELECT m.name AS "table", c.name, lower(c.type) AS type, c."notnull" AS required, c.dflt_value AS value, c.pk, c.hidden
  FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE m.type IN ('table', 'view') AND ${OWN} ORDER BY m.name, c.cid`;
const INDEXES = `SELECT m.name AS "table", i.name, i."unique" AS is_unique, i.origin, i.partial, x.cid, x.name AS "column"
  FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_xinfo(i.name) x
  WHERE m.type = 'table' AND x.key = 1 AND ${OWN} ORDER BY m.name, i.name, x.seqno`;
const REFERENCES = `SELECT m.name AS "table", f.id, f."table" AS target, f."from" AS "column", f."to" AS target_column, f.on_delete, f.on_update
  FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND ${OWN} ORDER BY m.name, f.id, f.seq`;
const TRIGGERS = `SELECT m.tbl_name AS "table", m.name FROM sqlite_master m WHERE m.type = 'trigger' ORDER BY m.name`;

/** Reads the catalog of SQLite. It does not list check constraints: they are counted in the table's SQL. */
export async function readSqlite(query: Query): Promise<DatabaseShape> {
  const tables = await query(TABLES);
  const columns = grouped(await query(COLUMNS), "table");
  const indexes = grouped(await query(INDEXES), "table");
  const references = grouped(await query(REFERENCES), "table");
  const triggers = grouped(await query(TRIGGERS), "table");
  const keys = new Map([...columns].map(([table, rows]) => [table, keyOf(rows)]));
  const shapes = tables.map((row): TableShape => {
    const name = String(row.name);
    const own = [...grouped(indexes.get(name) ?? [], "name").values()].filter(([first]) => first?.origin !== "pk");
    const sql = textOf(row.sql) ?? "";
    return {
      name,
      isView: row.kind === "view",
      columns: (columns.get(name) ?? []).map((column) => columnOf(column, keys.get(name) ?? [])),
      key: keys.get(name) ?? [],
      uniques: own.filter(([first]) => Number(first?.is_unique) === 1).map(indexOf),
      indexes: own.filter(([first]) => Number(first?.is_unique) === 0).map(indexOf),
      references: [...grouped(references.get(name) ?? [], "id").values()].map((rows) => referenceOf(name, rows, keys)),
      others: [
        ...[...sql.matchAll(/\bcheck\s*\(/gi)].map((_, index) => `check ${index + 1}`),
        ...(triggers.get(name) ?? []).map((trigger) => `trigger ${trigger.name}`),
        ...(/^create\s+virtual\s/i.test(sql) ? ["virtual table"] : []),
      ],
    };
  });
  return { provider: "sqlite", tables: shapes, enums: [] };
}

function keyOf(rows: readonly CatalogRow[]): readonly string[] {
  return rows
    .filter(({ pk }) => Number(pk) > 0)
    .sort((a, b) => Number(a.pk) - Number(b.pk))
    .map(({ name }) => String(name));
}

function columnOf(row: CatalogRow, key: readonly string[]): TableColumn {
  const name = String(row.name);
  const isComputed = Number(row.hidden) >= 2;
  const isOnlyKey = key.length === 1 && key[0] === name;
  return {
    name,
    type: String(row.type),
    isArray: false,
    required: Number(row.required) === 1 || key.includes(name),
    default: isComputed ? undefined : textOf(row.value),
    // Such a column is an alias of the row id.
    isCounted: isOnlyKey && row.type === "integer",
    isComputed,
  };
}

function indexOf(rows: readonly CatalogRow[]): TableIndex {
  const [first] = rows;
  const special =
    Number(first?.partial) === 1
      ? "over some rows"
      : rows.some(({ cid }) => Number(cid) < 0)
        ? "over an expression"
        : undefined;
  return {
    name: String(first?.name),
    columns: rows.filter(({ column }) => column !== null).map(({ column }) => String(column)),
    special,
  };
}

function referenceOf(
  table: string,
  rows: readonly CatalogRow[],
  keys: ReadonlyMap<string, readonly string[]>,
): Reference {
  const [first = {}] = rows;
  const onDelete = ON_DELETE[String(first.on_delete)];
  const target =
    [...keys.keys()].find((name) => name.toLowerCase() === String(first.target).toLowerCase()) ?? String(first.target);
  return {
    name: `${table}_${first.id}`, // SQLite stores no names
    columns: rows.map(({ column }) => String(column)),
    table: target,
    // Without columns, it refers to the target's key.
    targets: rows.map(({ target_column }, index) => String(target_column ?? keys.get(target)?.[index])),
    onDelete: onDelete ?? "restrict",
    others: [
      ...(onDelete === undefined ? [`ON DELETE ${first.on_delete}`] : []),
      ...(first.on_update === "NO ACTION" || first.on_update === "RESTRICT" ? [] : [`ON UPDATE ${first.on_update}`]),
    ],
  };
}
