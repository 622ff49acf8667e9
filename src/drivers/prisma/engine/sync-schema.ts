import type { SqlMigrationAwareDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError, type EntityModel } from "../../../entity/index.ts";
import type { Catalog } from "../../sql/index.ts";
import { type Rename, renamesOf } from "../schema/renames.ts";
import { sentencesOf } from "./differences.ts";
import { openingError, withOpened } from "./opening.ts";
import { type EnginePackages, SCHEMA_FILE, type SchemaEngine, withSchemaEngine } from "./schema-engine.ts";

/** The tables and definitions to synchronize. */
export interface SchemaTarget {
  readonly packages: EnginePackages;
  readonly model: EntityModel;
  readonly provider: "sqlite" | "postgresql";
  /** The Prisma schema of the entities. */
  readonly schema: string;
  /** The option that allows data loss, as written in code: `embedded({ acceptDataLoss: true })`. */
  readonly option: string;
  readonly acceptDataLoss: boolean;
  openTables(): Promise<Tables>;
  /** Called when the tables match, while no other process can change them. */
  onFit?(tables: Tables): Promise<void>;
}

/** Names of tables and enums, with their schema if there is one. */
export interface Foreign {
  readonly tables: readonly string[];
  readonly enums: readonly string[];
}

/** A connection for the schema engine. */
export interface Tables {
  readonly factory: SqlMigrationAwareDriverAdapterFactory;
  /** The current tables and types in the database that belong to other programs. */
  foreign(): Promise<Foreign>;
  catalog(): Promise<Catalog>;
  run(statement: string): Promise<void>;
  /** Statements for changes that the engine does not support; they run after renames. */
  preparations(): Promise<readonly string[]>;
  /**
   * Makes all changes or none. Tables that other programs create meanwhile are not visible, so they are not taken for
   * leftovers.
   * @param keep `false` rolls the changes back at the end; the returned value describes them
   */
  atomically<T>(change: () => Promise<T>, keep?: boolean): Promise<T>;
  close(): Promise<void>;
}

/**
 * Creates and alters tables to match the definitions, all or nothing.
 * @throws ConfigurationError when data would be lost, naming each loss and the option that allows it
 */
export function pushSchema(target: SchemaTarget): Promise<{ readonly changed: boolean }> {
  return withTables(target, (tables) =>
    tables.atomically(async () => {
      const { statements } = await prepareTables(target, tables);
      const { changed } = await withSchemaEngine(target.packages, target.schema, tables.factory, (engine) =>
        pushTables(engine, target, tables),
      );
      await target.onFit?.(tables);
      return { changed: changed || statements.length > 0 };
    }),
  );
}

/** The differences between tables and definitions, one sentence each. */
export function pendingChanges(target: SchemaTarget): Promise<readonly string[]> {
  return withTables(target, async (tables) => {
    // Other differences can only be found after the renames; finding them now would lock tables in use.
    const renames = renamesOf(target.model, await tables.catalog(), target.provider);
    if (renames.length > 0) return renames.map(({ sentence }) => sentence.replace(" is renamed", " is to be renamed"));
    return withSchemaEngine(target.packages, target.schema, tables.factory, async (engine) =>
      sentencesOf(await differenceOf(engine, target, tables, "outline")),
    );
  });
}

/** Applies renames of tables and columns, and the changes that the engine does not support. */
export async function prepareTables(
  { model, provider }: SchemaTarget,
  tables: Tables,
): Promise<{ readonly renames: readonly Rename[]; readonly statements: readonly string[] }> {
  const renames = renamesOf(model, await tables.catalog(), provider);
  const renaming = renames.flatMap(({ statements }) => statements);
  for (const statement of renaming) await tables.run(statement);
  const others = await tables.preparations();
  for (const statement of others) await tables.run(statement);
  return { renames, statements: [...renaming, ...others] };
}

/** Not a loss: if rows share a value, the change fails and nothing is changed. */
const HARMLESS = /^A unique constraint covering the columns/;

/**
 * Lets the engine change the tables. A push alone reads them as if no preview feature were enabled: it would not see
 * existing partial indexes, and would fail to create them again. It does see them after the same engine has compared
 * tables and schema.
 */
export async function pushTables(
  engine: SchemaEngine,
  target: SchemaTarget,
  tables: Tables,
): Promise<{ readonly changed: boolean }> {
  const hasPreview = /^ +previewFeatures /m.test(target.schema);
  if (hasPreview && (await differenceOf(engine, target, tables, "outline")) === "") return { changed: false };
  const { files, filters } = await inputs(target, tables);
  const attempt = (force: boolean) => engine.schemaPush({ force, schema: { files }, filters });
  const { executedSteps, warnings, unexecutable } = await attempt(false);
  if (warnings.length === 0 && unexecutable.length === 0) return { changed: executedSteps > 0 };
  const losses = warnings.filter((warning) => !HARMLESS.test(warning));
  if (unexecutable.length > 0 || (losses.length > 0 && !target.acceptDataLoss))
    throw new ConfigurationError([
      ...unexecutable.map((sentence) => `${sentence} Give the field a default, or make it optional`),
      ...losses,
      ...(losses.length === 0 ? [] : [`nothing was changed; to lose this data, say so: ${target.option}`]),
    ]);
  return { changed: (await attempt(true)).executedSteps > 0 };
}

/**
 * Compares tables and schema; returns an empty text when they match.
 * @param form an outline to read, or the statements that change the tables
 */
export async function differenceOf(
  engine: SchemaEngine,
  target: SchemaTarget,
  tables: Tables,
  form: "outline" | "script",
): Promise<string> {
  const { files, filters } = await inputs(target, tables);
  const { exitCode, stdout } = await engine.diff({
    script: form === "script",
    exitCode: true,
    filters,
    from: { tag: "schemaDatasource", files, configDir: process.cwd() },
    to: { tag: "schemaDatamodel", files },
  });
  return exitCode === 0 ? "" : (stdout ?? "");
}

async function inputs({ schema }: SchemaTarget, tables: Tables) {
  const foreign = await tables.foreign();
  return {
    files: [{ path: SCHEMA_FILE, content: schema }],
    filters: { externalTables: [...foreign.tables], externalEnums: [...foreign.enums] },
  };
}

/** Opens the tables for work; errors become Keelson errors. */
export function withTables<T>(target: SchemaTarget, work: (tables: Tables) => Promise<T>): Promise<T> {
  return withOpened(() => target.openTables(), work, schemaError);
}

/** Converts an error of the engine. Its messages may contain values; only the constraint's name is used. */
function schemaError(error: unknown): Error {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const known = openingError("schema", error);
  if (code === "P2002") {
    const name = /`([^`]*)`/.exec(String(message))?.[1] ?? "a constraint";
    return new ConfigurationError(`rows share a value that became unique (${name}); nothing was changed`, known);
  }
  return known;
}
