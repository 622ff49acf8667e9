import {
  ConfigurationError,
  createModel,
  type EntityLike,
  type EntityModel,
  type Provider,
} from "../../../entity/index.ts";
import { previewFeatures } from "./live-unique.ts";
import { printModel } from "./print-model.ts";
import { relationFields } from "./relation-sides.ts";
import { printedUniqueKeys } from "./unique-keys.ts";

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
