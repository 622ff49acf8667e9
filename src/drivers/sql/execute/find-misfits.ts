import type { ArgType, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition, EntityModel, Provider } from "../../../entity/index.ts";
import { toKeelsonError } from "../errors/to-keelson-error.ts";
import { type ColumnShape, columnsQuery, toCatalog } from "../tables/catalog.ts";
import { columnTypeOf, fitsColumn } from "../tables/column-type.ts";
import { isManaged, linkRelations, linkTable } from "../tables/link-table.ts";
import { storedName, tableOf } from "../tables/table-names.ts";
import { printedUniqueKeys } from "../tables/unique-keys.ts";

type Asked = Pick<SqlQueryable, "queryRaw">;

/** The tables and the model to compare. */
interface Fitting {
  readonly model: EntityModel;
  readonly provider: Provider;
  /** The schema in PostgreSQL. */
  readonly schema?: string | undefined;
}

/**
 * Reads the tables and returns the problems that prevent an app from working with them, one sentence each with the
 * remedy. Unknown tables, columns and indexes, wider types and different defaults are not problems: a later version may
 * have made them.
 * @param withKeys whether to check unique indexes and foreign keys, too; ignored on MySQL
 * @throws DatabaseUnavailableError
 */
export async function findMisfits(
  client: Asked,
  { model, provider, schema }: Fitting,
  withKeys: boolean,
): Promise<readonly string[]> {
  const tables = [...model.entities.map((entity) => describeEntity(model, entity)), ...describeLinks(model)];
  const problems: string[] = [];
  for (const own of new Set(tables.map((table) => table.schema ?? schema))) {
    const catalog = toCatalog(await ask(client, columnsQuery(provider, true), own));
    const keys = withKeys && provider !== "mysql" ? await readKeys(client, provider, own) : undefined;
    const existing = byFoldedName(catalog, provider);
    for (const table of tables.filter((one) => (one.schema ?? schema) === own)) {
      const found = existing.get(folded(table.name, provider));
      if (found === undefined) problems.push(`table "${table.name}" is missing${table.existing ? `; ${IMPORT}` : ""}`);
      else problems.push(...columnProblems(table, found, provider), ...(keys ? keyProblems(table, keys) : []));
    }
  }
  return problems;
}

const TEXT: ArgType = { scalarType: "string", arity: "scalar" };

async function ask(client: Asked, sql: string, schema: string | undefined): Promise<unknown[][]> {
  const parameters = schema === undefined ? { args: [], argTypes: [] } : { args: [schema], argTypes: [TEXT] };
  try {
    return (await client.queryRaw({ sql, ...parameters })).rows;
  } catch (error) {
    throw toKeelsonError(error, { operation: "connect" });
  }
}

// Rows of: table, column, name of the index, 1 for a partial index.
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
  const unique = new Set<string>();
  const partial = new Set<string>();
  for (const index of indexes.values())
    (index.partial ? partial : unique).add(`${index.table}(${index.columns.sort().join(",")})`);
  const references = await ask(client, REFERENCES[provider], schema);
  return { unique, partial, references: new Set(references.map(([from, column, to]) => `${from}.${column}>${to}`)) };
}

/** The constraints of the tables. */
interface Keys {
  /** Unique indexes over all rows: `table(a,b)`, the columns in alphabetical order. */
  readonly unique: ReadonlySet<string>;
  /** Partial unique indexes. */
  readonly partial: ReadonlySet<string>;
  /** Foreign keys: `table.column>target`. */
  readonly references: ReadonlySet<string>;
}

/** A table that the definitions describe. */
interface Described {
  readonly name: string;
  /** PostgreSQL's. @default the connection's */
  readonly schema: string | undefined;
  /** Whether the table existed before the app; its keys are then not checked. */
  readonly existing: boolean;
  /** Whether the entity is read-only. */
  readonly readOnly: boolean;
  readonly columns: readonly (readonly [string, ColumnDefinition])[];
  readonly unique: readonly (readonly string[])[];
  /** Whether unique indexes cover live records only. */
  readonly isPartial: boolean;
  readonly references: readonly (readonly [column: string, target: string])[];
}

function describeEntity(model: EntityModel, entity: AnyEntity): Described {
  const columns = Object.values(entity.columns);
  const { name, table, existing, readOnly } = entity;
  return {
    name: table?.name ?? name,
    schema: table?.schema,
    existing,
    readOnly,
    columns: columns.filter(({ parts }) => parts === undefined).map((column) => [column.stored, column]),
    unique: [
      (entity.columns.id?.parts ?? [entity.columns.id as ColumnDefinition]).map(({ name: part }) => part),
      ...printedUniqueKeys(model, entity),
    ].map((names) => names.map((one) => storedName(entity, one))),
    isPartial: entity.softDelete !== undefined,
    references: columns.flatMap(({ stored, relation }) => {
      const known = relation === undefined ? undefined : model.relation(entity, relation);
      if (known === undefined || known.remote !== undefined || !isManaged(known.target)) return [];
      return [[stored, tableOf(known.target)] as const];
    }),
  };
}

function describeLinks(model: EntityModel): Described[] {
  return linkRelations(model).map((relation) => {
    const { table, called, own, other, existing } = linkTable(relation);
    const ends = [[own, relation.source] as const, [other, relation.target] as const];
    return {
      name: called,
      schema: table === called ? undefined : table.slice(0, -called.length - 1),
      existing,
      readOnly: false,
      columns: ends.map(([column, { columns }]) => [column, columns.id as ColumnDefinition]),
      unique: [[own, other]],
      isPartial: false,
      references: ends.filter(([, end]) => isManaged(end)).map(([column, end]) => [column, tableOf(end)]),
    };
  });
}

/** The field kinds for column types; empty for types without a field. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^bigint/, "bigint"],
  [/int|serial/, "int"],
  [/bool/, "bool"],
  [/double|real|float|numeric|decimal/, "float"],
  [/timestamp|datetime/, "datetime"],
  [/^date/, "date"],
  [/^time/, "time"],
  [/uuid/, "uuid"],
  [/bytea|blob|binary/, "bytes"],
  [/json/, "json"],
  [/char|text/, "string"],
];

/** The remedy for a table that the app does not manage. */
const IMPORT = "`keelson import` shows what the entity would be now";

function typeSentence(
  at: string,
  column: ColumnDefinition,
  { type, provider, existing }: { readonly type: string; readonly provider: Provider; readonly existing: boolean },
): string {
  const expected = columnTypeOf(column.kind.column, provider);
  const suited = FIELDS.find(([pattern, name]) => pattern.test(type) && name !== column.kind.name);
  const field = suited === undefined || column.field === undefined ? undefined : `declare the field as ${suited[1]}`;
  const remedies = existing
    ? [field, IMPORT]
    : [`change the column's type to ${expected}`, ...(field === undefined ? [] : [`or ${field}`])];
  return `${at} has the type ${type || "(none)"}, and ${expected} is expected; ${remedies.filter(Boolean).join(", ")}`;
}

/** Normalizes names like the database: only PostgreSQL is always case-sensitive. */
function folded(name: string, provider: Provider): string {
  return provider === "postgresql" ? name : name.toLowerCase();
}

function byFoldedName<T>(map: ReadonlyMap<string, T>, provider: Provider): ReadonlyMap<string, T> {
  return new Map([...map].map(([name, value]) => [folded(name, provider), value]));
}

function columnProblems(
  table: Described,
  columns: ReadonlyMap<string, ColumnShape>,
  provider: Provider,
): readonly string[] {
  const problems: string[] = [];
  const found = byFoldedName(columns, provider);
  const described = new Set<string>();
  for (const [name, column] of table.columns) {
    const at = `table "${table.name}": column "${name}"`;
    const shape = found.get(folded(name, provider));
    described.add(folded(name, provider));
    if (shape === undefined) problems.push(`${at} is missing${table.existing ? `; ${IMPORT}` : ""}`);
    else if (!fitsColumn(column, shape.type, provider, table.existing))
      problems.push(typeSentence(at, column, { type: shape.type, provider, existing: table.existing }));
    else if (shape.required && column.optional && !shape.hasDefault && !table.readOnly)
      problems.push(`${at} is required in the database and optional in the entity; make both the same`);
  }
  for (const [name, { required, hasDefault }] of table.readOnly ? [] : columns)
    if (required && !hasDefault && !described.has(folded(name, provider)))
      problems.push(
        `table "${table.name}": column "${name}" is required, has no default, and is not in the entity, so no record can be created; give it a default, make it optional, or declare it`,
      );
  return problems;
}

function keyProblems({ name, existing, unique, isPartial, references }: Described, keys: Keys): readonly string[] {
  const problems: string[] = [];
  if (existing) return problems;
  for (const columns of unique) {
    const index = `${name}(${[...columns].sort().join(",")})`;
    if (!keys.unique.has(index) && !(isPartial && keys.partial.has(index)))
      problems.push(`table "${name}" has no unique index on ${columns.map((column) => `"${column}"`).join(", ")}`);
  }
  for (const [column, target] of references)
    if (!keys.references.has(`${name}.${column}>${target}`))
      problems.push(`table "${name}": column "${column}" has no foreign key to "${target}"`);
  return problems;
}
