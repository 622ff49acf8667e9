import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";
import { codecOf, columnTypeOf } from "../../sql/index.ts";
import { prismaNames } from "./enums.ts";
import { isLongText, prismaTypeOf } from "./prisma-types.ts";

/**
 * The `@default(...)` of a column, or undefined. Literal defaults are also set in the database, so that a required
 * column can be added to a table with rows; other defaults are set by the framework only.
 */
export function defaultAttribute(column: ColumnDefinition, provider: Provider): string | undefined {
  const { role, field, kind } = column;
  const { scalar } = kind.column;
  if (role === "createdAt" || role === "updatedAt") return "@default(now())";
  if (role === "version") return "@default(1)";
  if (kind.column.items !== undefined && !field?.encrypted) return listDefault(column, kind.column.items, provider);
  // The stored form of a protected field differs from its value.
  if (field?.default === undefined || !("value" in field.default) || field.password || field.encrypted)
    return undefined;
  // MySQL does not support defaults for columns of unlimited length.
  if (provider === "mysql" && (scalar === "Json" || isLongText(column))) return undefined;
  const { value } = field.default;
  if (value === null || value === undefined) return undefined;
  const literal = isStoredOtherwise(scalar)
    ? storedLiteral(column, value, provider)
    : literalOf(kind.column, value, provider);
  return literal === undefined ? undefined : `@default(${literal})`;
}

/** Required lists get an empty default for existing rows; in PostgreSQL they would otherwise be null. */
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

/** Formats a number for Prisma, which does not support exponents. */
function plainNumber(value: unknown): string | undefined {
  const text = String(value);
  return /^-?\d+(\.\d+)?$/.test(text) ? text : undefined;
}

/** Prisma's strings use the escapes of JSON. */
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

/** The default of a kind whose stored form differs from its values. */
function storedLiteral(column: ColumnDefinition, value: unknown, provider: Provider): string | undefined {
  const stored = String(codecOf(provider, column).encode(value));
  const { type } = prismaTypeOf(column, provider);
  if (type === "BigInt" || type === "Decimal") return stored;
  if (provider === "sqlite") return JSON.stringify(stored);
  // The form in which PostgreSQL reports it, so that the next comparison finds no difference.
  const cast = provider === "postgresql" ? `::${columnTypeOf(column.kind.column, provider)}` : "";
  return `dbgenerated(${JSON.stringify(provider === "mysql" ? `('${stored}')` : `'${stored}'${cast}`)})`;
}

/** SQLite stores datetimes as text; the engine would write them without milliseconds, unlike Prisma's client. */
function sqliteDatetime(value: unknown): string {
  return `dbgenerated(${JSON.stringify(`'${(value as Date).toISOString().replace("Z", "+00:00")}'`)})`;
}
