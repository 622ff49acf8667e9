import type { SqlMigrationAwareDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import { ConfigurationError, isKeelsonError } from "../../../entity/index.ts";
import { toKeelsonError } from "../to-keelson-error.ts";
import { sentencesOf } from "./differences.ts";
import { type EnginePackages, SCHEMA_FILE, type SchemaEngine, withSchemaEngine } from "./schema-engine.ts";

/** A connection for the schema engine. */
export interface Tables {
  readonly factory: SqlMigrationAwareDriverAdapterFactory;
  /** Tables and types of the same database that belong to somebody else. */
  readonly foreign: { readonly tables: readonly string[]; readonly enums: readonly string[] };
  /** Makes all changes or none. */
  atomically<T>(change: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** What is to be kept in step. */
export interface SchemaTarget {
  readonly packages: EnginePackages;
  /** The Prisma schema of the entities. */
  readonly schema: string;
  /** The option that allows losing data, as it is written: `embedded({ acceptDataLoss: true })`. */
  readonly option: string;
  readonly acceptDataLoss: boolean;
  openTables(): Promise<Tables>;
}

/** Not a loss: if rows share a value, the change fails and nothing happens. */
const HARMLESS = /^A unique constraint covering the columns/;

function inputs({ schema }: SchemaTarget, { foreign }: Tables) {
  return {
    files: [{ path: SCHEMA_FILE, content: schema }],
    filters: { externalTables: [...foreign.tables], externalEnums: [...foreign.enums] },
  };
}

async function withTables<T>(target: SchemaTarget, work: (tables: Tables) => Promise<T>): Promise<T> {
  let tables: Tables | undefined;
  try {
    tables = await target.openTables();
    return await work(tables);
  } catch (error) {
    throw isKeelsonError(error) ? error : schemaError(error);
  } finally {
    await tables?.close();
  }
}

/** The engine's messages may quote values; of this one only the constraint's name is taken. */
function schemaError(error: unknown): Error {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const known = toKeelsonError(error, { operation: "schema" });
  if (code === "P2002") {
    const name = /`([^`]*)`/.exec(String(message))?.[1] ?? "a constraint";
    return new ConfigurationError(`rows share a value that became unique (${name}); nothing was changed`, known);
  }
  return known;
}

function refusal(losses: readonly string[], impossible: readonly string[], option: string): ConfigurationError {
  const problems = [
    ...impossible.map((sentence) => `${sentence} Give the field a default, or make it optional`),
    ...losses,
  ];
  const allowed = losses.length === 0 ? [] : [`nothing was changed; to lose this data, say so: ${option}`];
  return new ConfigurationError([...problems, ...allowed]);
}

/** What differs between tables and schema, as an outline; empty when nothing does. */
async function outlineOf(engine: SchemaEngine, target: SchemaTarget, tables: Tables): Promise<string> {
  const { files, filters } = inputs(target, tables);
  const { exitCode, stdout } = await engine.diff({
    script: false,
    exitCode: true,
    filters,
    from: { tag: "schemaDatasource", files, configDir: process.cwd() },
    to: { tag: "schemaDatamodel", files },
  });
  return exitCode === 0 ? "" : (stdout ?? "");
}

/**
 * A push alone reads the tables as if no preview feature were on: it would not see the indexes that there are over some of
 * the rows, and fail to make them again. It does once the same engine has compared the two.
 */
async function push(engine: SchemaEngine, target: SchemaTarget, tables: Tables): Promise<{ changed: boolean }> {
  const hasPreview = /^ +previewFeatures /m.test(target.schema);
  if (hasPreview && (await outlineOf(engine, target, tables)) === "") return { changed: false };
  const { files, filters } = inputs(target, tables);
  const attempt = (force: boolean) => engine.schemaPush({ force, schema: { files }, filters });
  const { executedSteps, warnings, unexecutable } = await attempt(false);
  if (warnings.length === 0 && unexecutable.length === 0) return { changed: executedSteps > 0 };
  const losses = warnings.filter((warning) => !HARMLESS.test(warning));
  if (unexecutable.length > 0 || (losses.length > 0 && !target.acceptDataLoss))
    throw refusal(losses, unexecutable, target.option);
  return { changed: (await attempt(true)).executedSteps > 0 };
}

/**
 * Creates and alters tables to fit the definitions, all at once or not at all.
 * @throws ConfigurationError when data would be lost, naming each loss and the option that allows it
 */
export function pushSchema(target: SchemaTarget): Promise<{ readonly changed: boolean }> {
  return withTables(target, (tables) =>
    tables.atomically(() =>
      withSchemaEngine(target.packages, target.schema, tables.factory, (engine) => push(engine, target, tables)),
    ),
  );
}

/** Differences between tables and definitions, a sentence each. */
export function pendingChanges(target: SchemaTarget): Promise<readonly string[]> {
  return withTables(target, (tables) =>
    withSchemaEngine(target.packages, target.schema, tables.factory, async (engine) =>
      sentencesOf(await outlineOf(engine, target, tables)),
    ),
  );
}
