import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";

/** Prisma's strings have the escapes of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Prisma's numbers have no exponents. */
function plainNumber(value: unknown): string | undefined {
  const text = String(value);
  return /^-?\d+(\.\d+)?$/.test(text) ? text : undefined;
}

const LITERALS: Readonly<Record<ColumnType["scalar"], (value: unknown) => string | undefined>> = {
  String: (value) => quoted(value as string),
  Int: plainNumber,
  Float: plainNumber,
  Boolean: String,
  DateTime: (value) => quoted((value as Date).toISOString()),
  Json: (value) => quoted(JSON.stringify(value)),
};

/** SQLite keeps moments as text; the engine would write another form of it than Prisma's client does, without milliseconds. */
function sqliteLiteral(scalar: ColumnType["scalar"], value: unknown): string | undefined {
  if (scalar !== "DateTime") return LITERALS[scalar](value);
  return `dbgenerated(${quoted(`'${(value as Date).toISOString().replace("Z", "+00:00")}'`)})`;
}

/** MySQL gives no defaults to columns of unlimited length. */
function cannotHaveDefault({ scalar, native }: ColumnType, provider: Provider): boolean {
  return provider === "mysql" && (scalar === "Json" || native?.mysql?.endsWith("Text") === true);
}

/**
 * `@default(...)` of a column, or undefined. Literal defaults become the database's too, so that a new required column
 * can be added to a table with rows; those that cannot be written down stay the framework's business alone.
 */
export function defaultAttribute(column: ColumnDefinition, provider: Provider): string | undefined {
  const { role, field, kind } = column;
  if (role === "createdAt") return "@default(now())";
  if (role === "updatedAt") return "@default(now())";
  if (role === "version") return "@default(1)";
  // What is stored of a protected field is not its value.
  if (field?.default === undefined || !("value" in field.default) || field.password || field.encrypted)
    return undefined;
  const { value } = field.default;
  if (value === null || value === undefined || cannotHaveDefault(kind.column, provider)) return undefined;
  const literal =
    provider === "sqlite" ? sqliteLiteral(kind.column.scalar, value) : LITERALS[kind.column.scalar](value);
  return literal === undefined ? undefined : `@default(${literal})`;
}
