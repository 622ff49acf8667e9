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
  const lines = ['provider = "prisma-client"', `output   = ${JSON.stringify(output)}`, ...(preview ? [preview] : [])];
  return [`generator client {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`];
}

function isModel(entities: readonly EntityLike[] | EntityModel): entities is EntityModel {
  return !Array.isArray(entities);
}

/**
 * The Prisma schema of entities: one model per entity, named like it, with its columns, relations and indexes. The
 * same definitions always give the same text.
 * @param entities Definitions, builders, or the model of an app
 * @throws ConfigurationError when a relation cannot be resolved
 * @example
 * await writeFile("prisma/schema.prisma", toPrismaSchema([user, post], { provider: "postgresql" }));
 */
export function toPrismaSchema(entities: readonly EntityLike[] | EntityModel, options: PrismaSchemaOptions): string {
  const model = isModel(entities) ? entities : createModel(entities);
  if (model.problems.length > 0) throw new ConfigurationError(model.problems);
  const { provider, output = "../generated/prisma" } = options;
  const relations = relationFields(model);
  return [
    "// Made from the entity definitions; change those, not this file.\n",
    ...printGenerator(output, previewFeatures(model.entities, provider)),
    `datasource db {\n  provider = "${provider}"\n}\n`,
    ...model.entities.map((entity) => printModel(model, entity, relations, provider)),
  ].join("\n");
}
