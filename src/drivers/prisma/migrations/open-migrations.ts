import { resolve as resolvePath } from "node:path";
import { ConfigurationError, createModel } from "../../../entity/index.ts";
import { noopLogger } from "../../../kernel/index.ts";
import { tableNames } from "../../sql/index.ts";
import { openingError, withOpened } from "../engine/opening.ts";
import { withSchemaEngine } from "../engine/schema-engine.ts";
import { jsonQuoter } from "../engine/sqlite-tables.ts";
import {
  differenceOf,
  pendingChanges,
  prepareTables,
  pushTables,
  type SchemaTarget,
  type Tables,
  withTables,
} from "../engine/sync-schema.ts";
import { managedSchema } from "../schema/to-prisma-schema.ts";
import { deployMigrations, historyOf, migrationFailure } from "./deploy-migrations.ts";
import { describeChanges } from "./describe-changes.ts";
import type { Ledger, Scratch } from "./migration-database.ts";
import { type MigrationFile, readMigrations, writeMigration } from "./migration-folder.ts";
import type { MigrationPlan, Migrations, MigrationsOptions, SchemaChange } from "./migrations.ts";
import { postgresDatabase } from "./postgres-database.ts";
import { sqliteDatabase } from "./sqlite-database.ts";

/**
 * Compares a database with definitions, and changes it with or without migrations, using Prisma's schema engine in
 * WebAssembly: nothing is downloaded. Folders and records are in Prisma's format, so that its command can continue with
 * them. No connection is opened until a method needs it.
 * @throws ConfigurationError when a definition is invalid, or a package is not installed
 * @example
 * const migrations = await openMigrations({ entities, target: { provider: "sqlite", url: "file:.keelson/app.db" } });
 * await migrations.create("add titles");
 * await migrations.deploy();
 */
export async function openMigrations(options: MigrationsOptions): Promise<Migrations> {
  const { entities, target, directory = "prisma/migrations", log = noopLogger } = options;
  const { provider, url } = target;
  const model = "problems" in entities ? entities : createModel(entities);
  if (model.problems.length > 0) throw new ConfigurationError(model.problems);
  if (provider === "mysql") return UNSUPPORTED_MIGRATIONS;
  const folder = resolvePath(directory);
  const database = await (provider === "sqlite" ? sqliteDatabase(url, model) : postgresDatabase(url, model));
  const files = (): Promise<readonly MigrationFile[]> => readMigrations(folder, provider);
  const failure = (error: unknown): Error => openingError("migrations", error);
  const withLedger = <T>(work: (ledger: Ledger) => Promise<T>): Promise<T> =>
    withOpened(database.openLedger, work, failure);
  const definitions: SchemaTarget = {
    packages: database.packages,
    model,
    provider,
    schema: managedSchema(model, provider),
    option: "--accept-data-loss",
    acceptDataLoss: false,
    openTables: database.openTables,
  };

  const plan = (apply: boolean, acceptDataLoss = false): Promise<MigrationPlan> => {
    const wanted = { ...definitions, acceptDataLoss };
    return withTables(wanted, (tables) => planMigration(wanted, tables, apply));
  };

  return Object.freeze({
    diff: () => plan(false),

    async status() {
      const found = await files();
      const history = historyOf(await withLedger((ledger) => ledger.records()), found);
      const { changes } = history.pending.length === 0 ? await plan(false) : EMPTY_PLAN;
      const pending = history.pending.map(({ name }) => name);
      return { applied: history.applied, failed: history.failed, missing: history.missing, pending, drift: changes };
    },

    async push({ acceptDataLoss, onProgress }: Parameters<Migrations["push"]>[0] = {}) {
      onProgress?.({ name: "push", done: 0, total: 1 });
      const pushed = await plan(true, acceptDataLoss);
      onProgress?.({ name: "push", done: 1, total: 1 });
      if (!pushed.isEmpty) log.info("The tables were changed to fit the entities", { provider });
      return pushed;
    },

    async create(name, { acceptDataLoss = false } = {}) {
      const found = await files();
      const replayed = async (scratch: Scratch): Promise<MigrationPlan> => {
        await replay(scratch, found);
        return planMigration(definitions, scratch.tables, false);
      };
      const wanted = await withOpened(database.openScratch, replayed, failure);
      if (wanted.isEmpty) return undefined;
      if (!acceptDataLoss) assertKept(wanted);
      const written = { provider, name, sql: wanted.sql, last: found.at(-1)?.name };
      return { directory: await writeMigration(folder, written), plan: wanted };
    },

    async deploy({ baseline = false, onProgress = () => {} }: Parameters<Migrations["deploy"]>[0] = {}) {
      const found = await files();
      const applied = await withLedger((ledger) =>
        deployMigrations(ledger, {
          files: found,
          baseline,
          onProgress,
          differences: () => pendingChanges(definitions),
          hasTables: () =>
            withTables(definitions, async (tables) => {
              const catalog = await tables.catalog();
              return tableNames(model).some((table) => catalog.has(table));
            }),
        }),
      );
      for (const migration of applied) log.info("A migration was applied", { migration });
      return { applied };
    },

    resolve: (name, as) =>
      withLedger(async (ledger) => {
        if (!historyOf(await ledger.records(), []).failed.includes(name))
          throw new ConfigurationError(
            `migration ${name} has not failed; keelson migrate status lists those that have`,
          );
        await ledger.resolve(name, as);
      }),

    close: async () => {},
  } satisfies Migrations);
}

/** The plan without changes. */
const EMPTY_PLAN: MigrationPlan = Object.freeze({ changes: Object.freeze([]), sql: "", isEmpty: true });

/** The comment at the top of a script that lists the lost values for its reviewer. */
function heading(changes: readonly SchemaChange[]): string {
  const losses = changes.filter(({ destructive }) => destructive);
  if (losses.length === 0) return "";
  return ["/*", "  Values are lost:", ...losses.map(({ sentence }) => `  - ${sentence}`), "*/", "", ""].join("\n");
}

function scriptOf(statements: readonly string[], script: string): string {
  const own = statements.length === 0 ? "" : `-- Keelson\n${statements.map((sql) => `${sql};\n`).join("")}\n`;
  // Without differences, the engine's script is a single comment.
  return `${own}${/^--[^\n]*$/.test(script.trim()) ? "" : `${script.trim()}\n`}`;
}

/**
 * Plans the change from the current tables to the definitions. Renames are applied first, because other differences can
 * only be found after them; a plan that is only displayed is rolled back.
 * @param apply whether to change the tables
 */
function planMigration(target: SchemaTarget, tables: Tables, apply: boolean): Promise<MigrationPlan> {
  return tables.atomically(async () => {
    const { renames, statements } = await prepareTables(target, tables);
    const catalog = await tables.catalog();
    return withSchemaEngine(target.packages, target.schema, tables.factory, async (engine) => {
      const outline = await differenceOf(engine, target, tables, "outline");
      if (outline === "" && statements.length === 0) return EMPTY_PLAN;
      const written = await differenceOf(engine, target, tables, "script");
      const script = target.provider === "sqlite" ? jsonQuoter()(written) : written;
      const changes = describeChanges({ ...target, renames, catalog, outline });
      if (apply) await pushTables(engine, target, tables);
      return Object.freeze({ changes, sql: heading(changes) + scriptOf(statements, script), isEmpty: false });
    });
  }, apply);
}

async function replay(scratch: Scratch, files: readonly MigrationFile[]): Promise<void> {
  for (const file of files)
    await scratch.run(file.sql).catch((error: unknown) => {
      throw migrationFailure(
        error,
        file,
        "it does not run after those before it; put it right before adding another one",
      );
    });
}

/** @throws ConfigurationError naming each loss */
function assertKept({ changes }: MigrationPlan): void {
  const losses = changes.filter(({ destructive }) => destructive);
  if (losses.length === 0) return;
  throw new ConfigurationError([
    ...losses.map(({ sentence }) => sentence),
    "nothing was written; pass --accept-data-loss to lose these values",
  ]);
}

function refuse(command: string): () => Promise<never> {
  return async () => {
    throw new ConfigurationError(
      `MySQL and MariaDB are migrated by Prisma's own command, which downloads its engine; write the schema with "keelson generate", then run: npx prisma ${command}`,
    );
  };
}

/**
 * For MySQL, which Prisma's schema engine in WebAssembly does not support: each method names the command to run
 * instead.
 */
const UNSUPPORTED_MIGRATIONS: Migrations = Object.freeze({
  diff: refuse("migrate diff"),
  status: refuse("migrate status"),
  push: refuse("db push"),
  create: refuse("migrate dev"),
  deploy: refuse("migrate deploy"),
  resolve: refuse("migrate resolve"),
  close: async () => {},
});
