import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";
import { codecOf, columnTypeOf } from "../../sql/index.ts";
import { prismaNames } from "./enums.ts";
import { isLongText, prismaTypeOf } from "./prisma-types.ts";

/**
 * `@default(...)` of a column, or undefined. Literal defaults become the database's too, so that a new required column
 * can be added to a table with rows; others are set by the framework alone.
 */
export function defaultAttribute(column: ColumnDefinition, provider: Provider): string | undefined {
  const { role, field, kind } = column;
  const { scalar } = kind.column;
  if (role === "createdAt" || role === "updatedAt") return "@default(now())";
  if (role === "version") return "@default(1)";
  if (kind.column.items !== undefined && !field?.encrypted) return listDefault(column, kind.column.items, provider);
  // The stored form of a protected field is not its value.
  if (field?.default === undefined || !("value" in field.default) || field.password || field.encrypted)
    return undefined;
  // MySQL gives no defaults to columns of unlimited length.
  if (provider === "mysql" && (scalar === "Json" || isLongText(column))) return undefined;
  const { value } = field.default;
  if (value === null || value === undefined) return undefined;
  const literal = isStoredOtherwise(scalar)
    ? storedLiteral(column, value, provider)
    : literalOf(kind.column, value, provider);
  return literal === undefined ? undefined : `@default(${literal})`;
}

/** Required lists are empty in rows from before: PostgreSQL's would be null, and there is always something that fits. */
function listDefault({ field, optional }: ColumnDefinition, items: ColumnType, provider: Provider): string | undefined {
  if (provider === "mysql") return undefined;
  const given = field?.default !== undefined && "value" in field.default ? field.default.value : undefined;
  const value = Array.isArray(given) ? given : [];
  if (given === undefined && optional) return undefined;
  if (provider === "sqlite") {
    const written = value.every((one) => typeof one !== "bigint" && typeof one !== "object") ? value : [];
    return `@default(${LITERALS.Json?.(written)})`;
  }
  const literals = value.map((one) => literalOf(items, one, provider));
  return `@default([${literals.includes(undefined) ? "" : literals.join(", ")}])`;
}

/** Prisma's numbers have no exponents. */
function plainNumber(value: unknown): string | undefined {
  const text = String(value);
  return /^-?\d+(\.\d+)?$/.test(text) ? text : undefined;
}

/** Prisma's strings have the escapes of JSON. */
const LITERALS: Readonly<Partial<Record<ColumnType["scalar"], (value: unknown) => string | undefined>>> = {
  String: (value) => JSON.stringify(value),
  Enum: (value) => JSON.stringify(value),
  Int: plainNumber,
  Float: plainNumber,
  Boolean: String,
  DateTime: (value) => JSON.stringify(value),
  Json: (value) => JSON.stringify(JSON.stringify(value)),
};

function literalOf({ scalar, words = [] }: ColumnType, value: unknown, provider: Provider): string | undefined {
  if (scalar === "Enum" && provider !== "sqlite") return prismaNames(words).get(value as string);
  return provider === "sqlite" && scalar === "DateTime" ? sqliteDatetime(value) : LITERALS[scalar]?.(value);
}

const STORED_OTHERWISE: ReadonlySet<string> = new Set(["BigInt", "Decimal", "Date", "Time", "Uuid"]);
const isStoredOtherwise = (scalar: string): boolean => STORED_OTHERWISE.has(scalar);

/** The default of a kind whose values have a form of their own in the database. */
function storedLiteral(column: ColumnDefinition, value: unknown, provider: Provider): string | undefined {
  const stored = String(codecOf(provider, column).encode(value));
  const { type } = prismaTypeOf(column, provider);
  if (type === "BigInt" || type === "Decimal") return stored;
  if (provider === "sqlite") return JSON.stringify(stored);
  // As PostgreSQL writes it back, so that the next comparison finds no difference.
  const cast = provider === "postgresql" ? `::${columnTypeOf(column.kind.column, provider)}` : "";
  return `dbgenerated(${JSON.stringify(provider === "mysql" ? `('${stored}')` : `'${stored}'${cast}`)})`;
}

/** SQLite keeps datetimes as text; the engine would write another form of it than Prisma's client does, without milliseconds. */
function sqliteDatetime(value: unknown): string {
  return `dbgenerated(${JSON.stringify(`'${(value as Date).toISOString().replace("Z", "+00:00")}'`)})`;
}
