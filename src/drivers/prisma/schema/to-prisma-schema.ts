import {
  type AnyEntity,
  type ColumnDefinition,
  ConfigurationError,
  createModel,
  type EntityLike,
  type EntityModel,
  type OnDelete,
  type Provider,
} from "../../../entity/index.ts";
import { isManaged, liveUniqueName, printedUniqueKeys, uniqueColumnsOf } from "../../sql/index.ts";
import { defaultAttribute } from "./column-defaults.ts";
import { enumsOf, enumTypeOf, printEnum, prismaEnumName } from "./enums.ts";
import { isLongText, prismaTypeOf } from "./prisma-types.ts";
import { type RelationField, relationFields } from "./relation-sides.ts";

/** Options of `toPrismaSchema`. */
export interface PrismaSchemaOptions {
  /** The database that the schema is for. */
  readonly provider: Provider;
  /**
   * The output folder of `prisma generate`, relative to the schema file. `false` omits the generator, for a schema in
   * several files with a generator elsewhere (which needs the preview features that a comment then names).
   * @default "../generated/prisma"
   */
  readonly output?: string | false | undefined;
}

/**
 * Generates the Prisma schema of entities: one model per entity, with the same name, its columns, relations and
 * indexes, formatted like Prisma's own formatter does. The output is deterministic.
 * @param entities definitions, builders, or the model of an app
 * @throws ConfigurationError when a relation cannot be resolved, or a long text must be unique on MySQL
 * @example
 * await writeFile("prisma/schema.prisma", toPrismaSchema([user, post], { provider: "postgresql" }));
 */
export function toPrismaSchema(entities: readonly EntityLike[] | EntityModel, options: PrismaSchemaOptions): string {
  const model = "problems" in entities ? entities : createModel(entities);
  if (model.problems.length > 0) throw new ConfigurationError(model.problems);
  return printSchema(model, options, model.entities);
}

/**
 * The schema of the tables that Keelson manages: without existing tables and relations to them, whose keys become plain
 * columns.
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

/** @param schemas PostgreSQL schemas with tables, other than the default one */
function printSource(provider: Provider, schemas: readonly string[]): string {
  if (schemas.length === 0) return `datasource db {\n  provider = "${provider}"\n}\n`;
  const names = ["public", ...schemas.filter((name) => name !== "public")].map((name) => `"${name}"`);
  return `datasource db {\n  provider = "${provider}"\n  schemas  = [${names.join(", ")}]\n}\n`;
}

/** Problems of unique long texts, of which MySQL would compare only a prefix. */
function uniqueLongTexts(model: EntityModel): readonly string[] {
  return model.entities.flatMap((entity) =>
    [...new Set(printedUniqueKeys(model, entity).flat())]
      .filter((name) => isLongText(entity.columns[name]))
      .map(
        (name) => `${entity.name}.${name}: MySQL cannot keep a text field unique; make it a string, or drop .unique()`,
      ),
  );
}

/** @param features preview features that Prisma's generator must enable */
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

/** The attributes for the table's name and schema. @param named whether each model states its schema */
function printNames({ table }: AnyEntity, named: boolean): string[] {
  return [
    ...(table === undefined ? [] : [`  @@map(${JSON.stringify(table.name)})`]),
    ...(named ? [`  @@schema("${table?.schema ?? "public"}")`] : []),
  ];
}

type Line = readonly [name: string, type: string, attributes: string];

/** The default of ids that the database generates. */
function madeBy(type: string): string {
  return type === "String" ? '@default(dbgenerated("gen_random_uuid()"))' : "@default(autoincrement())";
}

/** Aligns the lines of a block like Prisma's formatter. */
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
  const named = type.replace(/^Enum/, () => prismaEnumName(enumTypeOf(entity, column)));
  const isList = type.endsWith("[]");
  return [column.name, `${named}${column.optional && !isList ? "?" : ""}`, attributes.filter(Boolean).join(" ")];
}

/**
 * Additional arguments of an entity's unique index; undefined if it covers all records, as on MySQL, which has no
 * partial indexes. A partial index has its own name, so that the index over all records can replace it, and vice versa.
 */
function liveUnique(entity: AnyEntity, columns: readonly string[], provider: Provider): string | undefined {
  if (entity.softDelete === undefined || provider === "mysql") return undefined;
  return `where: { ${entity.softDelete.field}: null }, map: "${liveUniqueName(entity, columns)}"`;
}

/**
 * "restrict" is printed as NoAction, which is checked at the end of the statement, so that rows deleted together may
 * refer to each other. Restrict would be checked for each row.
 */
const ON_DELETE: Readonly<Record<OnDelete, string>> = { cascade: "Cascade", setNull: "SetNull", restrict: "NoAction" };

function printRelation({ name, target, list, relationName, key }: RelationField): Line {
  const named = relationName === undefined ? [] : [`name: "${relationName}"`];
  if (key === undefined)
    return [name, `${target}${list ? "[]" : "?"}`, named.length === 0 ? "" : `@relation(${named})`];
  const parts = [...named, `fields: [${key.foreignKey}]`, "references: [id]", `onDelete: ${ON_DELETE[key.onDelete]}`];
  return [name, `${target}${key.optional ? "?" : ""}`, `@relation(${parts.join(", ")})`];
}

/** Sorts declared relations by declaration, followed by undeclared ones. */
function inOrderOf(names: readonly string[]): (a: RelationField, b: RelationField) => number {
  const position = ({ name, hidden }: RelationField): number => (hidden ? names.length : names.indexOf(name));
  return (a, b) => position(a) - position(b);
}

/** MySQL indexes a prefix of a text only; this is the length of a whole VARCHAR(255). */
const INDEXED_LENGTH = 255;

/** Columns of words, which PostgreSQL indexes by trigrams. */
function wordsColumns({ columns }: AnyEntity): readonly ColumnDefinition[] {
  return Object.values(columns).filter(({ role }) => role === "words");
}

function printIndexes(entity: AnyEntity, unique: ReadonlySet<string>, provider: Provider): string[] {
  // A unique index also serves look-ups, unless it is partial.
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
