import {
  type AnyEntity,
  type ColumnDefinition,
  type ColumnType,
  ConfigurationError,
  createModel,
  type EntityLike,
  type EntityModel,
  type OnDelete,
  type Provider,
} from "../../../entity/index.ts";
import {
  codecOf,
  columnTypeOf,
  isManaged,
  isScaled,
  liveUniqueName,
  printedUniqueKeys,
  uniqueColumnsOf,
} from "../../sql/index.ts";
import { enumsOf, enumTypeOf, printEnum, prismaEnumName, prismaNames } from "./enums.ts";
import { type RelationField, relationFields } from "./relation-sides.ts";

/** Options of `toPrismaSchema`. */
export interface PrismaSchemaOptions {
  /** The database that the schema is for. */
  readonly provider: Provider;
  /**
   * Where `prisma generate` puts the client, relative to the schema's file; `false` leaves the generator out, for a
   * schema of several files that has one elsewhere (with the preview features that a comment then names).
   * @default "../generated/prisma"
   */
  readonly output?: string | false | undefined;
}

/**
 * The Prisma schema of entities: one model per entity, named like it, with its columns, relations and indexes, as
 * Prisma's own formatter would write it. The same definitions always give the same text.
 * @param entities Definitions, builders, or the model of an app
 * @throws ConfigurationError when a relation cannot be resolved, or MySQL is to keep a long text unique
 * @example
 * await writeFile("prisma/schema.prisma", toPrismaSchema([user, post], { provider: "postgresql" }));
 */
export function toPrismaSchema(entities: readonly EntityLike[] | EntityModel, options: PrismaSchemaOptions): string {
  const model = "problems" in entities ? entities : createModel(entities);
  if (model.problems.length > 0) throw new ConfigurationError(model.problems);
  return printSchema(model, options, model.entities);
}

/**
 * The schema of the tables that Keelson makes: without those that were there before, and without relations to them, whose
 * keys are then plain columns.
 */
export function managedSchema(model: EntityModel, provider: Provider): string {
  return printSchema(model, { provider }, model.entities.filter(isManaged));
}

function printSchema(model: EntityModel, options: PrismaSchemaOptions, entities: readonly AnyEntity[]): string {
  const { provider, output = "../generated/prisma" } = options;
  const longTexts = provider === "mysql" ? uniqueLongTexts(model) : [];
  if (longTexts.length > 0) throw new ConfigurationError(longTexts);
  const printed = new Set(entities.map(({ name }) => name));
  const relations = relationFields(model).filter(({ on, target }) => printed.has(on) && printed.has(target));
  const schemas = [...new Set(entities.flatMap(({ table }) => table?.schema ?? []))];
  const hasPartial = provider !== "mysql" && model.entities.some(({ softDelete }) => softDelete !== undefined);
  return [
    "// Made from the entity definitions; change those, not this file.\n",
    ...printGenerator(output, hasPartial ? '["partialIndexes"]' : undefined),
    printSource(provider, schemas),
    ...entities.map((entity) => printModel(model, entity, relations, { provider, named: schemas.length > 0 })),
    ...(provider === "sqlite" ? [] : enumsOf(entities)).map(printEnum),
  ].join("\n");
}

/** @param schemas those of PostgreSQL that tables are in, besides the default one */
function printSource(provider: Provider, schemas: readonly string[]): string {
  if (schemas.length === 0) return `datasource db {\n  provider = "${provider}"\n}\n`;
  const names = ["public", ...schemas.filter((name) => name !== "public")].map((name) => `"${name}"`);
  return `datasource db {\n  provider = "${provider}"\n  schemas  = [${names.join(", ")}]\n}\n`;
}

/** MySQL would compare only the beginnings of two texts. */
function uniqueLongTexts(model: EntityModel): readonly string[] {
  return model.entities.flatMap((entity) =>
    [...new Set(printedUniqueKeys(model, entity).flat())]
      .filter((name) => isLongText(entity.columns[name]))
      .map(
        (name) => `${entity.name}.${name}: MySQL cannot keep a text field unique; make it a string, or drop .unique()`,
      ),
  );
}

function isLongText(column: ColumnDefinition | undefined): boolean {
  return column?.kind.column.native?.mysql?.endsWith("Text") === true;
}

/** @param features Preview features that Prisma's generator has to name */
function printGenerator(output: string | false, features: string | undefined): string[] {
  if (output === false) return features === undefined ? [] : [`// The generator needs previewFeatures = ${features}\n`];
  const settings = [
    ["provider", '"prisma-client"'],
    ["output", JSON.stringify(output)],
    ["previewFeatures", features],
  ].filter(([, value]) => value !== undefined) as [name: string, value: string][];
  const width = Math.max(...settings.map(([name]) => name.length));
  return [`generator client {\n${settings.map(([name, value]) => `  ${name.padEnd(width)} = ${value}\n`).join("")}}\n`];
}

/** One model of a Prisma schema: columns, relation fields, indexes. */
function printModel(
  model: EntityModel,
  entity: AnyEntity,
  relations: readonly RelationField[],
  { provider, named }: { readonly provider: Provider; readonly named: boolean },
): string {
  const fields = relations.filter(({ on }) => on === entity.name).sort(inOrderOf(Object.keys(entity.relations)));
  const unique = new Set(uniqueColumnsOf(model, entity));
  const stored = Object.values(entity.columns).filter(({ parts }) => parts === undefined);
  const columns = stored.map((column) => printColumn(entity, column, unique.has(column.name), provider));
  const indexes = printIndexes(entity, unique, provider);
  const key = entity.columns.id?.parts?.map(({ name }) => name).join(", ");
  const names = [...(key === undefined ? [] : [`  @@id([${key}])`]), ...printNames(entity, named)];
  const lines = [
    ...aligned([...columns, ...fields.map(printRelation)]),
    ...(indexes.length + names.length > 0 ? [""] : []),
    ...indexes,
    ...names,
  ];
  return `model ${entity.name} {\n${lines.join("\n")}\n}\n`;
}

/** What the database calls the table, and where it is. @param named whether each model names its schema */
function printNames({ table }: AnyEntity, named: boolean): string[] {
  return [
    ...(table === undefined ? [] : [`  @@map(${JSON.stringify(table.name)})`]),
    ...(named ? [`  @@schema("${table?.schema ?? "public"}")`] : []),
  ];
}

type Line = readonly [name: string, type: string, attributes: string];

/** The default of ids that the database makes. */
function madeBy(type: string): string {
  return type === "String" ? '@default(dbgenerated("gen_random_uuid()"))' : "@default(autoincrement())";
}

/** Prisma's word for a column's type, and its native type where that is not the provider's default. */
export function prismaTypeOf(
  { role, kind: { column } }: Pick<ColumnDefinition, "role" | "kind">,
  provider: Provider,
): { type: string; native: string | undefined } {
  const { scalar, precision, scale } = column;
  const isSqlite = provider === "sqlite";
  switch (scalar) {
    case "Enum":
      return { type: isSqlite ? "String" : scalar, native: undefined };
    case "Decimal":
      if (isSqlite) return { type: isScaled(column) ? "BigInt" : "String", native: undefined };
      return { type: "Decimal", native: `Decimal(${precision}, ${scale})` };
    case "BigInt":
      // SQLite counts in columns of the type INTEGER alone, which hold 64 bits there; keys have the type of ids.
      return { type: isSqlite && (role === "id" || role === "foreignKey") ? "Int" : scalar, native: undefined };
    case "Date":
      return isSqlite ? { type: "String", native: undefined } : { type: "DateTime", native: "Date" };
    case "Time":
      return isSqlite ? { type: "String", native: undefined } : { type: "DateTime", native: "Time(3)" };
    case "Uuid":
      return { type: "String", native: { sqlite: undefined, postgresql: "Uuid", mysql: "Char(36)" }[provider] };
    case "Bytes":
      return { type: scalar, native: provider === "mysql" ? "LongBlob" : undefined };
    default:
      return { type: scalar, native: column.native?.[provider] };
  }
}

/** Lines of a block below each other, as Prisma's formatter puts them. */
function aligned(lines: readonly Line[]): string[] {
  const nameWidth = Math.max(...lines.map(([name]) => name.length));
  const typeWidth = Math.max(...lines.map(([, type]) => type.length));
  return lines.map(([name, type, attributes]) =>
    `  ${name.padEnd(nameWidth)} ${type.padEnd(typeWidth)} ${attributes}`.trimEnd(),
  );
}

function printColumn(entity: AnyEntity, column: ColumnDefinition, isUnique: boolean, provider: Provider): Line {
  const isCounted = column.role === "id" && entity.idsFrom === "database";
  const { type, native } = prismaTypeOf(column, provider);
  const live = liveUnique(entity, [column.name], provider);
  const unique = live === undefined ? "@unique" : `@unique(${live})`;
  const attributes = [
    column.role === "id" ? "@id" : isUnique && unique,
    isCounted ? madeBy(type) : defaultAttribute(column, provider),
    column.stored !== column.name && `@map(${JSON.stringify(column.stored)})`,
    native && `@db.${native}`,
  ];
  const named = type === "Enum" ? prismaEnumName(enumTypeOf(entity, column)) : type;
  return [column.name, `${named}${column.optional ? "?" : ""}`, attributes.filter(Boolean).join(" ")];
}

/**
 * Further arguments of a unique index of an entity; undefined when it is about all records, as on MySQL, which has no
 * indexes over some of the rows. It has a name of its own, so that the index over all records can take its place, and
 * the other way round.
 */
function liveUnique(entity: AnyEntity, columns: readonly string[], provider: Provider): string | undefined {
  if (entity.softDelete === undefined || provider === "mysql") return undefined;
  return `where: { ${entity.softDelete.field}: null }, map: "${liveUniqueName(entity, columns)}"`;
}

/**
 * "restrict" is printed as NoAction: it looks at the end of the statement, so that rows which go together may refer to
 * each other. Restrict would look at each row on its own.
 */
const ON_DELETE: Readonly<Record<OnDelete, string>> = { cascade: "Cascade", setNull: "SetNull", restrict: "NoAction" };

function printRelation({ name, target, list, relationName, key }: RelationField): Line {
  const named = relationName === undefined ? [] : [`name: "${relationName}"`];
  if (key === undefined)
    return [name, `${target}${list ? "[]" : "?"}`, named.length === 0 ? "" : `@relation(${named})`];
  const parts = [...named, `fields: [${key.foreignKey}]`, "references: [id]", `onDelete: ${ON_DELETE[key.onDelete]}`];
  return [name, `${target}${key.optional ? "?" : ""}`, `@relation(${parts.join(", ")})`];
}

/** Declared relations in the order of their declaration, then those that are not declared. */
function inOrderOf(names: readonly string[]): (a: RelationField, b: RelationField) => number {
  const position = ({ name, hidden }: RelationField): number => (hidden ? names.length : names.indexOf(name));
  return (a, b) => position(a) - position(b);
}

/** MySQL indexes the beginning of a text only; this much is what a whole VARCHAR(255) takes. */
const INDEXED_LENGTH = 255;

/** Columns of words, which PostgreSQL finds by the trigrams in them. */
function wordsColumns({ columns }: AnyEntity): readonly ColumnDefinition[] {
  return Object.values(columns).filter(({ role }) => role === "words");
}

function printIndexes(entity: AnyEntity, unique: ReadonlySet<string>, provider: Provider): string[] {
  // A unique index is one for look-ups too, unless records that the database has to find are missing from it.
  const isIndexed = (name: string): boolean => unique.has(name) && liveUnique(entity, [name], provider) === undefined;
  const keys = Object.values(entity.columns).filter(({ name, role }) => role === "foreignKey" && !isIndexed(name));
  const indexed = (name: string): string =>
    provider === "mysql" && isLongText(entity.columns[name]) ? `${name}(length: ${INDEXED_LENGTH})` : name;
  const lines = [
    ...entity.uniques.map((list) => {
      const live = liveUnique(entity, list, provider);
      return `  @@unique([${list.join(", ")}]${live === undefined ? "" : `, ${live}`})`;
    }),
    ...[...entity.indexes, ...keys.map(({ name }) => [name])].map(
      (list) => `  @@index([${list.map(indexed).join(", ")}])`,
    ),
    ...(provider === "postgresql" ? wordsColumns(entity) : []).map(
      ({ name }) => `  @@index([${name}(ops: raw("gin_trgm_ops"))], type: Gin)`,
    ),
  ];
  return [...new Set(lines)];
}

/**
 * `@default(...)` of a column, or undefined. Literal defaults become the database's too, so that a new required column
 * can be added to a table with rows; others are set by the framework alone.
 */
export function defaultAttribute(column: ColumnDefinition, provider: Provider): string | undefined {
  const { role, field, kind } = column;
  const { scalar } = kind.column;
  if (role === "createdAt" || role === "updatedAt") return "@default(now())";
  if (role === "version") return "@default(1)";
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
