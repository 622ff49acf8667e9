import { type CatalogRow, grouped, ON_DELETE, type Query, textOf } from "./catalog-rows.ts";
import type { DatabaseShape, EnumShape, Reference, TableColumn, TableIndex, TableShape } from "./database-shape.ts";

const TABLES = `SELECT TABLE_NAME AS name, TABLE_TYPE AS kind, TABLE_COMMENT AS comment
  FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME`;
const COLUMNS = `SELECT TABLE_NAME AS \`table\`, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable, COLUMN_DEFAULT AS value,
    EXTRA AS extra, COLUMN_COMMENT AS comment
  FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`;
const INDEXES = `SELECT TABLE_NAME AS \`table\`, INDEX_NAME AS name, NON_UNIQUE AS is_plain, COLUMN_NAME AS \`column\`, SUB_PART AS part,
    INDEX_TYPE AS method
  FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`;
const REFERENCES = `SELECT k.TABLE_NAME AS \`table\`, k.CONSTRAINT_NAME AS name, k.COLUMN_NAME AS \`column\`, k.REFERENCED_TABLE_SCHEMA AS \`schema\`,
    k.REFERENCED_TABLE_SCHEMA = DATABASE() AS is_own, k.REFERENCED_TABLE_NAME AS target, k.REFERENCED_COLUMN_NAME AS target_column,
    r.DELETE_RULE AS on_delete, r.UPDATE_RULE AS on_update
  FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r
    ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
  WHERE k.TABLE_SCHEMA = DATABASE() AND k.REFERENCED_TABLE_NAME IS NOT NULL
  ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`;
const CHECKS = `SELECT TABLE_NAME AS \`table\`, CONSTRAINT_NAME AS name FROM information_schema.CHECK_CONSTRAINTS
  WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY CONSTRAINT_NAME`;
const TRIGGERS = `SELECT EVENT_OBJECT_TABLE AS \`table\`, TRIGGER_NAME AS name FROM information_schema.TRIGGERS
  WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY TRIGGER_NAME`;

/** Reads the catalog of MariaDB or MySQL. */
export async function readMysql(query: Query): Promise<DatabaseShape> {
  const tables = await query(TABLES);
  const columns = grouped(await query(COLUMNS), "table");
  const indexes = grouped(await query(INDEXES), "table");
  const references = grouped(await query(REFERENCES), "table");
  const checks = grouped(await checksOf(query), "table");
  const triggers = grouped(await query(TRIGGERS), "table");
  const enums: EnumShape[] = [];
  const shapes = tables.map((row): TableShape => {
    const name = String(row.name);
    const own = [...grouped(indexes.get(name) ?? [], "name").values()];
    const isView = row.kind === "VIEW";
    const found = (columns.get(name) ?? []).map((column) => columnOf(name, column, enums));
    return {
      name,
      isView,
      comment: isView ? undefined : textOf(row.comment),
      columns: found,
      key: own.find(([first]) => first?.name === "PRIMARY")?.map(({ column }) => String(column)) ?? [],
      uniques: own.filter(([first]) => first?.name !== "PRIMARY" && Number(first?.is_plain) === 0).map(indexOf),
      indexes: own.filter(([first]) => Number(first?.is_plain) === 1).map(indexOf),
      references: [...grouped(references.get(name) ?? [], "name").values()].map(referenceOf),
      others: [
        // MariaDB stores JSON in texts with a check named like the column.
        ...(checks.get(name) ?? [])
          .filter((check) => !found.some((column) => column.name === check.name && column.type === "json"))
          .map((check) => `check ${check.name}`),
        ...(triggers.get(name) ?? []).map((trigger) => `trigger ${trigger.name}`),
      ],
    };
  });
  const jsons = await jsonColumns(query);
  return { provider: "mysql", tables: shapes.map((table) => withJson(table, jsons)), enums };
}

/** Reads check constraints. MySQL's table of checks has no table names, so the second query is for it. */
async function checksOf(query: Query): Promise<readonly CatalogRow[]> {
  try {
    return await query(CHECKS);
  } catch {
    return query(
      `SELECT TABLE_NAME AS \`table\`, CONSTRAINT_NAME AS name FROM information_schema.TABLE_CONSTRAINTS
       WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'CHECK' ORDER BY CONSTRAINT_NAME`,
    );
  }
}

/** The JSON columns of MariaDB: long texts with a check that they are valid JSON, as “table.column”. */
async function jsonColumns(query: Query): Promise<ReadonlySet<string>> {
  try {
    const rows = await query(`SELECT TABLE_NAME AS \`table\`, CONSTRAINT_NAME AS name, CHECK_CLAUSE AS clause
      FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()`);
    return new Set(
      rows
        .filter(
          ({ clause, name }) =>
            String(clause).replaceAll("`", "").toLowerCase() === `json_valid(${String(name).toLowerCase()})`,
        )
        .map(({ table, name }) => `${table}.${name}`),
    );
  } catch {
    return new Set(); // MySQL has a type for JSON
  }
}

function withJson(table: TableShape, jsons: ReadonlySet<string>): TableShape {
  const isJson = (column: string): boolean => jsons.has(`${table.name}.${column}`);
  return {
    ...table,
    columns: table.columns.map((column) => (isJson(column.name) ? { ...column, type: "json" } : column)),
    others: table.others.filter((other) => !(other.startsWith("check ") && isJson(other.slice("check ".length)))),
  };
}

function columnOf(table: string, row: CatalogRow, enums: EnumShape[]): TableColumn {
  const written = String(row.type);
  const extra = String(row.extra).toLowerCase();
  const name = String(row.name);
  const words = /^enum\((.*)\)$/i.exec(written)?.[1];
  if (words !== undefined)
    enums.push({
      name: `${table}.${name}`,
      words: [...words.matchAll(/'((?:[^']|'')*)'/g)].map(([, word]) => (word as string).replaceAll("''", "'")),
    });
  const isComputed = extra.includes("generated") && !extra.includes("default_generated");
  const value = row.value === null || String(row.value).toUpperCase() === "NULL" ? undefined : String(row.value);
  return {
    name,
    type: words === undefined ? written.toLowerCase() : "enum",
    isArray: false,
    enum: words === undefined ? undefined : `${table}.${name}`,
    required: row.nullable === "NO",
    default: isComputed ? undefined : value,
    isCounted: extra.includes("auto_increment"),
    isComputed,
    comment: textOf(row.comment),
  };
}

function indexOf(rows: readonly CatalogRow[]): TableIndex {
  const [first] = rows;
  const special = rows.some(({ column }) => column === null)
    ? "over an expression"
    : rows.some(({ part }) => part !== null)
      ? "over the beginnings of texts"
      : first?.method === "BTREE"
        ? undefined
        : `of the method ${first?.method}`;
  return {
    name: String(first?.name),
    columns: rows.filter(({ column }) => column !== null).map(({ column }) => String(column)),
    special,
  };
}

function referenceOf(rows: readonly CatalogRow[]): Reference {
  const [first = {}] = rows;
  const onDelete = ON_DELETE[String(first.on_delete)];
  const onUpdate = String(first.on_update);
  return {
    name: String(first.name),
    columns: rows.map(({ column }) => String(column)),
    schema: Number(first.is_own) === 1 ? undefined : String(first.schema),
    table: String(first.target),
    targets: rows.map(({ target_column }) => String(target_column)),
    onDelete: onDelete ?? "restrict",
    others: [
      ...(onDelete === undefined ? [`ON DELETE ${first.on_delete}`] : []),
      ...(onUpdate === "RESTRICT" || onUpdate === "NO ACTION" ? [] : [`ON UPDATE ${onUpdate}`]),
    ],
  };
}
