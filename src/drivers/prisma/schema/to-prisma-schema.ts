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
import { liveUniqueName, printedUniqueKeys, uniqueColumnsOf } from "../../sql/index.ts";
import { type RelationField, relationFields } from "./relation-sides.ts";

/**
 * "restrict" is printed as NoAction: it looks at the end of the statement, so that rows which go together may refer to
 * each other. Restrict would look at each row on its own.
 */
const ON_DELETE: Readonly<Record<OnDelete, string>> = { cascade: "Cascade", setNull: "SetNull", restrict: "NoAction" };

type Line = readonly [name: string, type: string, attributes: string];

/** Lines of a block below each other, as Prisma's formatter puts them. */
function aligned(lines: readonly Line[]): string[] {
  const nameWidth = Math.max(...lines.map(([name]) => name.length));
  const typeWidth = Math.max(...lines.map(([, type]) => type.length));
  return lines.map(([name, type, attributes]) =>
    `  ${name.padEnd(nameWidth)} ${type.padEnd(typeWidth)} ${attributes}`.trimEnd(),
  );
}

/** MySQL indexes the beginning of a text only; this much is what a whole VARCHAR(255) takes. */
const INDEXED_LENGTH = 255;

function indexedColumn(entity: AnyEntity, name: string, provider: Provider): string {
  const isLong = provider === "mysql" && entity.columns[name]?.kind.column.native?.mysql?.endsWith("Text") === true;
  return isLong ? `${name}(length: ${INDEXED_LENGTH})` : name;
}

function uniqueAttribute(entity: AnyEntity, name: string, provider: Provider): string {
  const live = liveUnique(entity, [name], provider);
  return live === undefined ? "@unique" : `@unique(${live})`;
}

function printColumn(entity: AnyEntity, column: ColumnDefinition, isUnique: boolean, provider: Provider): Line {
  const { scalar, native } = column.kind.column;
  const type = native?.[provider];
  const attributes = [
    column.role === "id" ? "@id" : isUnique ? uniqueAttribute(entity, column.name, provider) : undefined,
    defaultAttribute(column, provider),
    type === undefined ? undefined : `@db.${type}`,
  ];
  return [column.name, `${scalar}${column.optional ? "?" : ""}`, attributes.filter(Boolean).join(" ")];
}

function printRelation({ name, target, list, relationName, key }: RelationField): Line {
  const named = relationName === undefined ? [] : [`name: "${relationName}"`];
  if (key === undefined) {
    return [name, `${target}${list ? "[]" : "?"}`, named.length === 0 ? "" : `@relation(${named})`];
  }
  const parts = [...named, `fields: [${key.foreignKey}]`, "references: [id]", `onDelete: ${ON_DELETE[key.onDelete]}`];
  return [name, `${target}${key.optional ? "?" : ""}`, `@relation(${parts.join(", ")})`];
}

function printIndexes(entity: AnyEntity, unique: ReadonlySet<string>, provider: Provider): string[] {
  const columns = Object.values(entity.columns);
  // A unique index is one for look-ups too, unless records that the database has to find are missing from it.
  const isIndexed = (name: string): boolean => unique.has(name) && liveUnique(entity, [name], provider) === undefined;
  const keys = columns.filter(({ name, role }) => role === "foreignKey" && !isIndexed(name));
  const indexes = [...entity.indexes, ...keys.map(({ name }) => [name])];
  const lines = [
    ...entity.uniques.map((list) => {
      const live = liveUnique(entity, list, provider);
      return `  @@unique([${list.join(", ")}]${live === undefined ? "" : `, ${live}`})`;
    }),
    ...indexes.map((list) => `  @@index([${list.map((name) => indexedColumn(entity, name, provider)).join(", ")}])`),
  ];
  return [...new Set(lines)];
}

/** Declared relations in the order of their declaration, then those that are not declared. */
function inOrderOf(names: readonly string[]): (a: RelationField, b: RelationField) => number {
  const position = ({ name, hidden }: RelationField): number => (hidden ? names.length : names.indexOf(name));
  return (a, b) => position(a) - position(b);
}

/** One model of a Prisma schema: columns, relation fields, indexes. */
function printModel(
  model: EntityModel,
  entity: AnyEntity,
  relations: readonly RelationField[],
  provider: Provider,
): string {
  const fields = relations.filter(({ on }) => on === entity.name).sort(inOrderOf(Object.keys(entity.relations)));
  const unique = new Set(uniqueColumnsOf(model, entity));
  const columns = Object.values(entity.columns).map((column) =>
    printColumn(entity, column, unique.has(column.name), provider),
  );
  const indexes = printIndexes(entity, unique, provider);
  const lines = [
    ...aligned([...columns, ...fields.map(printRelation)]),
    ...(indexes.length > 0 ? ["", ...indexes] : []),
  ];
  return `model ${entity.name} {\n${lines.join("\n")}\n}\n`;
}

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

function printGenerator(output: string | false, features: readonly string[]): string[] {
  const preview = features.length === 0 ? undefined : `previewFeatures = ${JSON.stringify(features)}`;
  if (output === false) return preview === undefined ? [] : [`// The generator needs ${preview}\n`];
  const settings: readonly (readonly [name: string, value: string])[] = [
    ["provider", '"prisma-client"'],
    ["output", JSON.stringify(output)],
    ...(features.length === 0 ? [] : [["previewFeatures", JSON.stringify(features)] as const]),
  ];
  const width = Math.max(...settings.map(([name]) => name.length));
  return [`generator client {\n${settings.map(([name, value]) => `  ${name.padEnd(width)} = ${value}\n`).join("")}}\n`];
}

/** MySQL would compare the beginnings of two texts and take them for the same. */
function uniqueLongTexts(model: EntityModel): readonly string[] {
  return model.entities.flatMap((entity) =>
    [...new Set(printedUniqueKeys(model, entity).flat())]
      .filter((name) => entity.columns[name]?.kind.column.native?.mysql?.endsWith("Text"))
      .map(
        (name) => `${entity.name}.${name}: MySQL cannot keep a text field unique; make it a string, or drop .unique()`,
      ),
  );
}

function isModel(entities: readonly EntityLike[] | EntityModel): entities is EntityModel {
  return !Array.isArray(entities);
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
  const model = isModel(entities) ? entities : createModel(entities);
  if (model.problems.length > 0) throw new ConfigurationError(model.problems);
  const { provider, output = "../generated/prisma" } = options;
  const longTexts = provider === "mysql" ? uniqueLongTexts(model) : [];
  if (longTexts.length > 0) throw new ConfigurationError(longTexts);
  const relations = relationFields(model);
  return [
    "// Made from the entity definitions; change those, not this file.\n",
    ...printGenerator(output, previewFeatures(model.entities, provider)),
    `datasource db {\n  provider = "${provider}"\n}\n`,
    ...model.entities.map((entity) => printModel(model, entity, relations, provider)),
  ].join("\n");
}

/** Prisma's name for indexes over some of the rows. */
const PREVIEW_FEATURE = "partialIndexes";

/** Whether unique values of an entity hold among its live records only; MySQL has no indexes over some of the rows. */
function isLiveUnique({ softDelete }: AnyEntity, provider: Provider): boolean {
  return softDelete !== undefined && provider !== "mysql";
}

/**
 * What a unique index of an entity says besides its columns; undefined when it is about all records. It has a name of its
 * own, so that the index over all records can take its place, and the other way round.
 */
function liveUnique(entity: AnyEntity, columns: readonly string[], provider: Provider): string | undefined {
  const { softDelete } = entity;
  if (softDelete === undefined || !isLiveUnique(entity, provider)) return undefined;
  return `where: { ${softDelete.field}: null }, map: "${liveUniqueName(entity, columns)}"`;
}

/** The features that Prisma's generator has to be told of. */
function previewFeatures(entities: readonly AnyEntity[], provider: Provider): readonly string[] {
  return entities.some((entity) => isLiveUnique(entity, provider)) ? [PREVIEW_FEATURE] : [];
}

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
