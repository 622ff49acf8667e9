import type { Pool } from "pg";
import type { ColumnDefinition, EntityModel } from "../../../entity/index.ts";
import { columnTypeOf, isManaged, tableOf } from "../../sql/index.ts";
import { enumsOf, enumTypeOf } from "../schema/enums.ts";

/** A column whose type is text or an enum. */
interface FoundColumn {
  readonly place: string;
  readonly type: string;
  /** The values of an enum; null for text. */
  readonly words: readonly string[] | null;
}

const COLUMNS = `SELECT c.relname || '.' || a.attname AS place, t.typname AS type,
    (SELECT array_agg(e.enumlabel::text) FROM pg_enum e WHERE e.enumtypid = t.oid) AS words
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid
  WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
    AND (t.typtype = 'e' OR t.typname IN ('text', 'varchar'))`;
const TYPES = `SELECT t.typname AS name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
  WHERE n.nspname = $1 AND t.typtype = 'e'`;

/**
 * Statements that convert text columns to enums and enum columns to text, and that recreate an enum whose default is a
 * new value, which the transaction that adds it cannot use. The schema engine would drop the values. The statements
 * fail if a row has an undeclared value.
 */
export async function enumConversions(
  pool: Pick<Pool, "query">,
  schema: string,
  model: EntityModel,
): Promise<readonly string[]> {
  const types = new Set((await pool.query<{ name: string }>(TYPES, [schema])).rows.map(({ name }) => name));
  if (types.size === 0 && enumsOf(model.entities).length === 0) return [];
  const { rows } = await pool.query<FoundColumn>(COLUMNS, [schema]);
  const found = new Map(rows.map((column) => [column.place, column]));
  const statements: string[] = [];
  const convert = (place: string, type: string): void => {
    const [table, column] = place.split(".") as [string, string];
    const alter = `ALTER TABLE ${quoted(table)} ALTER COLUMN ${quoted(column)}`;
    statements.push(`${alter} DROP DEFAULT`, `${alter} TYPE ${type} USING ${quoted(column)}::text::${type}`);
  };
  const make = (type: string, words: readonly string[]): void => {
    statements.push(`CREATE TYPE ${quoted(type)} AS ENUM (${words.map(literal).join(", ")})`);
    types.add(type);
  };
  for (const entity of model.entities.filter(isManaged))
    for (const column of Object.values(entity.columns)) {
      const { scalar, words } = column.kind.column;
      const place = `${tableOf(entity)}.${column.stored}`;
      const stored = found.get(place);
      if (stored === undefined || (scalar !== "String" && words === undefined)) continue;
      if (words === undefined) {
        if (stored.words !== null) convert(place, columnTypeOf(column.kind.column, "postgresql"));
        continue;
      }
      const type = enumTypeOf(entity, column);
      if (stored.words === null) {
        if (!types.has(type)) make(type, words);
        convert(place, quoted(type));
      } else if (stored.type === type && isNewDefault(column, stored.words)) {
        const former = `${type}_former`;
        statements.push(`ALTER TYPE ${quoted(type)} RENAME TO ${quoted(former)}`);
        make(type, words);
        for (const other of rows.filter((one) => one.type === type)) {
          convert(other.place, quoted(type));
          found.delete(other.place);
        }
        statements.push(`DROP TYPE ${quoted(former)}`);
      }
    }
  return statements;
}

function isNewDefault({ field }: ColumnDefinition, words: readonly string[]): boolean {
  const value = field?.default !== undefined && "value" in field.default ? field.default.value : undefined;
  return typeof value === "string" && !words.includes(value);
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
