import type { ArgType, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { EntityModel, Provider } from "../../../entity/index.ts";
import { toKeelsonError } from "../errors/to-keelson-error.ts";
import { type Catalog, columnsQuery, toCatalog } from "../tables/catalog.ts";
import { type Keys, misfitsOf } from "../tables/misfits.ts";

type Asked = Pick<SqlQueryable, "queryRaw">;

const TEXT: ArgType = { scalarType: "string", arity: "scalar" };

async function ask(client: Asked, sql: string, schema: string | undefined): Promise<unknown[][]> {
  const parameters = schema === undefined ? { args: [], argTypes: [] } : { args: [schema], argTypes: [TEXT] };
  try {
    return (await client.queryRaw({ sql, ...parameters })).rows;
  } catch (error) {
    throw toKeelsonError(error, { operation: "connect" });
  }
}

/** Tables and views as they are. @param schema that of PostgreSQL */
export async function readCatalog(client: Asked, provider: Provider, schema?: string): Promise<Catalog> {
  return toCatalog(await ask(client, columnsQuery(provider, true), schema));
}

// Rows of: table, column, name of the index, 1 where it is over some of the rows only.
const UNIQUE = {
  sqlite: `SELECT m.name, c.name, i.name, i.partial
    FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
    WHERE m.type = 'table' AND i."unique" = 1`,
  postgresql: `SELECT t.relname::text, a.attname::text, i.indexrelid::text, (i.indpred IS NOT NULL)::int
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY(i.indkey)
    WHERE n.nspname = $1 AND i.indisunique AND i.indisvalid AND i.indexprs IS NULL`,
} as const;

// Rows of: table, column, target.
const REFERENCES = {
  sqlite: `SELECT m.name, k."from", k."table" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) k
    WHERE m.type = 'table'`,
  postgresql: `SELECT t.relname::text, a.attname::text, r.relname::text
    FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
      JOIN pg_class r ON r.oid = k.confrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY(k.conkey)
    WHERE n.nspname = $1 AND k.contype = 'f'`,
} as const;

async function readKeys(client: Asked, provider: keyof typeof UNIQUE, schema: string | undefined): Promise<Keys> {
  const indexes = new Map<string, { readonly table: string; readonly columns: string[]; readonly partial: boolean }>();
  for (const [table, column, name, partial] of await ask(client, UNIQUE[provider], schema)) {
    const index = indexes.get(String(name)) ?? { table: String(table), columns: [], partial: Number(partial) === 1 };
    index.columns.push(String(column));
    indexes.set(String(name), index);
  }
  const namesOf = (wanted: boolean) =>
    new Set(
      [...indexes.values()]
        .filter(({ partial }) => partial === wanted)
        .map(({ table, columns }) => `${table}(${columns.sort().join(",")})`),
    );
  const references = await ask(client, REFERENCES[provider], schema);
  return {
    unique: namesOf(false),
    partial: namesOf(true),
    references: new Set(references.map(([table, column, target]) => `${table}.${column}>${target}`)),
  };
}

/**
 * Asks the database for its tables, and says what keeps an app from working on them.
 * @param withKeys whether unique indexes and foreign keys are looked at, too
 * @throws DatabaseUnavailableError
 */
export async function findMisfits(
  client: Asked,
  { model, provider, schema }: { model: EntityModel; provider: keyof typeof UNIQUE; schema?: string },
  withKeys: boolean,
): Promise<readonly string[]> {
  const catalog = await readCatalog(client, provider, schema);
  const keys = withKeys ? await readKeys(client, provider, schema) : undefined;
  return misfitsOf({ model, provider, catalog, keys });
}
