import { type CatalogRow, grouped, type Query, type ReadOptions, textOf } from "./catalog-rows.ts";
import type { DatabaseShape, EnumShape, Reference, TableColumn, TableIndex, TableShape } from "./database-shape.ts";

// Types and lists are cast to text: adapters do not support some of the catalog's types.

const TABLES = `SELECT c.oid::text AS id, n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind,
    obj_description(c.oid, 'pg_class') AS comment, n.nspname = current_schema() AS is_default,
    c.relrowsecurity AS has_policies
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND SCHEMAS
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  ORDER BY n.nspname, c.relname`;

const COLUMNS = `SELECT a.attrelid::text AS id, a.attname::text AS name, a.attnotnull AS required, a.attidentity <> '' AS is_identity,
    a.attgenerated <> '' AS is_computed, pg_get_expr(d.adbin, d.adrelid) AS default,
    col_description(a.attrelid, a.attnum) AS comment, t.typelem <> 0 AND t.typcategory = 'A' AS is_array,
    format_type(COALESCE(NULLIF(b.oid, 0), e.oid), CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END) AS type,
    CASE WHEN e.typtype = 'e' THEN e.oid::text END AS enum
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_type e ON e.oid = CASE WHEN t.typelem <> 0 AND t.typcategory = 'A' THEN t.typelem ELSE t.oid END
    LEFT JOIN pg_type b ON b.oid = e.typbasetype
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND SCHEMAS
  ORDER BY a.attrelid, a.attnum`;

const NAMES_OF = (table: string, keys: string): string =>
  `(SELECT json_agg(a.attname::text ORDER BY u.at)::text FROM unnest(${keys}) WITH ORDINALITY u(num, at)
    JOIN pg_attribute a ON a.attrelid = ${table} AND a.attnum = u.num)`;

const CONSTRAINTS = `SELECT k.conrelid::text AS id, k.conname::text AS name, k.contype::text AS kind,
    ${NAMES_OF("k.conrelid", "k.conkey")} AS columns, ${NAMES_OF("k.confrelid", "k.confkey")} AS targets,
    f.relname::text AS table, fn.nspname::text AS schema, fn.nspname = current_schema() AS is_default,
    k.confdeltype::text AS on_delete, k.confupdtype::text AS on_update
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_class f ON f.oid = k.confrelid LEFT JOIN pg_namespace fn ON fn.oid = f.relnamespace
  WHERE k.contype IN ('p', 'u', 'f', 'c', 'x') AND SCHEMAS ORDER BY k.conname`;

const INDEXES = `SELECT i.indrelid::text AS id, x.relname::text AS name, i.indisunique AS is_unique, i.indpred IS NOT NULL AS is_partial,
    i.indexprs IS NOT NULL AS is_expression, am.amname::text AS method, ${NAMES_OF("i.indrelid", "i.indkey")} AS columns
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am am ON am.oid = x.relam
  WHERE NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')) AND SCHEMAS
  ORDER BY x.relname`;

const ENUMS = `SELECT t.oid::text AS id, t.typname::text AS name, n.nspname::text AS schema, n.nspname = current_schema() AS is_default,
    (SELECT json_agg(e.enumlabel::text ORDER BY e.enumsortorder)::text FROM pg_enum e WHERE e.enumtypid = t.oid) AS words
  FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typtype = 'e' ORDER BY t.typname`;

const TRIGGERS = `SELECT g.tgrelid::text AS id, g.tgname::text AS name
  FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE NOT g.tgisinternal AND SCHEMAS ORDER BY g.tgname`;

/** Reads the catalog of PostgreSQL. */
export async function readPostgres(query: Query, { schemas }: ReadOptions): Promise<DatabaseShape> {
  const listed = schemas?.map((name) => `'${name.replaceAll("'", "''")}'`).join(", ");
  const inSchemas = listed === undefined ? "n.nspname = current_schema()" : `n.nspname IN (${listed})`;
  const ask = (sql: string): ReturnType<Query> => query(sql.replace("SCHEMAS", inSchemas));
  const enumRows = await ask(ENUMS);
  const enums = new Map(enumRows.map((row) => [String(row.id), enumOf(row)]));
  const tables = await ask(TABLES);
  const columns = grouped(await ask(COLUMNS), "id");
  const constraints = grouped(await ask(CONSTRAINTS), "id");
  const indexes = grouped(await ask(INDEXES), "id");
  const triggers = grouped(await ask(TRIGGERS), "id");
  const shapes = tables.map((row): TableShape => {
    const id = String(row.id);
    const kept = constraints.get(id) ?? [];
    const ofKind = (kind: string) => kept.filter((constraint) => constraint.kind === kind);
    const further = indexes.get(id) ?? [];
    return {
      schema: schemaOf(row),
      name: String(row.name),
      isView: row.kind === "v" || row.kind === "m",
      comment: textOf(row.comment),
      columns: (columns.get(id) ?? []).map((column) => columnOf(column, enums)),
      key: listOf(ofKind("p")[0]?.columns),
      uniques: [
        ...ofKind("u").map(({ name, columns: names }) => ({ name: String(name), columns: listOf(names) })),
        ...further.filter(({ is_unique }) => is_unique === true).map(indexOf),
      ],
      indexes: further.filter(({ is_unique }) => is_unique !== true).map(indexOf),
      references: ofKind("f").map(referenceOf),
      others: [
        ...ofKind("c").map(({ name }) => `check ${name}`),
        ...ofKind("x").map(({ name }) => `exclusion ${name}`),
        ...(triggers.get(id) ?? []).map(({ name }) => `trigger ${name}`),
        ...(row.has_policies === true ? ["row-level security"] : []),
        ...(row.kind === "f" ? ["foreign table"] : []),
        ...(row.kind === "p" ? ["partitions"] : []),
      ],
    };
  });
  const used = new Set(shapes.flatMap((table) => table.columns.map((column) => column.enum)));
  return { provider: "postgresql", tables: shapes, enums: [...enums.values()].filter(({ name }) => used.has(name)) };
}

function schemaOf({ schema, is_default }: CatalogRow): string | undefined {
  return is_default === true ? undefined : String(schema);
}

function listOf(value: unknown): string[] {
  return value === null || value === undefined ? [] : (JSON.parse(String(value)) as string[]);
}

function enumOf(row: CatalogRow): EnumShape {
  return { schema: schemaOf(row), name: String(row.name), words: listOf(row.words) };
}

function columnOf(row: CatalogRow, enums: ReadonlyMap<string, EnumShape>): TableColumn {
  const value = textOf(row.default);
  const isComputed = row.is_computed === true;
  return {
    name: String(row.name),
    type: String(row.type).toLowerCase().replace("character varying", "varchar").replace("character(", "char("),
    isArray: row.is_array === true,
    enum: row.enum === null ? undefined : enums.get(String(row.enum))?.name,
    required: row.required === true,
    default: isComputed ? undefined : value,
    isCounted: row.is_identity === true || value?.startsWith("nextval(") === true,
    isComputed,
    comment: textOf(row.comment),
  };
}

function indexOf({ name, columns, is_partial, is_expression, method }: CatalogRow): TableIndex {
  const special =
    is_partial === true
      ? "over some rows"
      : is_expression === true
        ? "over an expression"
        : method === "btree"
          ? undefined
          : `of the method ${method}`;
  return { name: String(name), columns: listOf(columns), special };
}

const ON_DELETE: Readonly<Record<string, Reference["onDelete"]>> = {
  c: "cascade",
  n: "setNull",
  a: "restrict",
  r: "restrict",
};

function referenceOf(row: CatalogRow): Reference {
  const onDelete = ON_DELETE[String(row.on_delete)];
  return {
    name: String(row.name),
    columns: listOf(row.columns),
    schema: schemaOf(row),
    table: String(row.table),
    targets: listOf(row.targets),
    onDelete: onDelete ?? "restrict",
    others: [
      ...(onDelete === undefined ? ["ON DELETE SET DEFAULT"] : []),
      ...(row.on_update === "c" ? ["ON UPDATE CASCADE"] : []),
      ...(row.on_update === "n" ? ["ON UPDATE SET NULL"] : []),
      ...(row.on_update === "d" ? ["ON UPDATE SET DEFAULT"] : []),
    ],
  };
}
