import type { EntityLike, EntityModel } from "../../../entity/index.ts";
import type { Logger } from "../../../kernel/index.ts";

/** The database to migrate. */
export interface MigrationTarget {
  readonly provider: "sqlite" | "postgresql" | "mysql";
  /** `file:…`, `postgresql://…` or `mysql://…`. */
  readonly url: string;
}

/** The effect of one or a few statements of a migration. */
export interface SchemaChange {
  /** A description of the change: `table "post" gets column "title"`. */
  readonly sentence: string;
  /** Whether rows may lose values. */
  readonly destructive: boolean;
  /** The kind of change, for scripts. */
  readonly kind: SchemaChangeKind;
}

/** The kinds of changes a migration makes to tables. */
export type SchemaChangeKind =
  | "create-table"
  | "drop-table"
  | "rename-table"
  | "add-column"
  | "drop-column"
  | "alter-column"
  | "rename-column"
  | "create-index"
  | "drop-index"
  | "rename-index"
  | "other";

/** The changes that make a database match the definitions. */
export interface MigrationPlan {
  /** Destructive changes first. */
  readonly changes: readonly SchemaChange[];
  /** The statements, renames first. */
  readonly sql: string;
  readonly isEmpty: boolean;
}

/** The progress of a long task. */
export interface MigrationProgress {
  /** The current migration, or the current step of a push. */
  readonly name: string;
  /** Finished steps. */
  readonly done: number;
  readonly total: number;
}

/** The migration state of a database. */
export interface MigrationStatus {
  /** Folders of migrations that have not been applied, oldest first. */
  readonly pending: readonly string[];
  readonly applied: readonly string[];
  /** Migrations that failed halfway; nothing is applied until they are resolved. */
  readonly failed: readonly string[];
  /** Migrations that the database has recorded and whose folder no longer exists. */
  readonly missing: readonly string[];
  /** Differences between database and definitions once no migration is pending; empty until then. */
  readonly drift: readonly SchemaChange[];
}

/** Options of `openMigrations`. */
export interface MigrationsOptions {
  /** Definitions, builders, or the model of an app. */
  readonly entities: readonly EntityLike[] | EntityModel;
  readonly target: MigrationTarget;
  /** The folder of the migrations, relative to the working directory. @default "prisma/migrations" */
  readonly directory?: string | undefined;
  /** @default noopLogger */
  readonly log?: Logger | undefined;
}

/** Compares and migrates a database to match definitions. */
export interface Migrations {
  /** Plans the changes that make the database match the definitions. */
  diff(): Promise<MigrationPlan>;
  status(): Promise<MigrationStatus>;
  /**
   * Makes the database match the definitions without a migration, all or nothing.
   * @throws ConfigurationError when values would be lost and `acceptDataLoss` is not set, naming each loss
   */
  push(options?: {
    /** @default false */
    readonly acceptDataLoss?: boolean | undefined;
    readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  }): Promise<MigrationPlan>;
  /**
   * Writes the migration from the state of the folder's migrations to the definitions; undefined when there are no
   * changes. The database is not changed.
   * @throws ConfigurationError when values would be lost and `acceptDataLoss` is not set, naming each loss
   */
  create(
    name: string,
    options?: {
      /** @default false */
      readonly acceptDataLoss?: boolean | undefined;
    },
  ): Promise<{ readonly directory: string; readonly plan: MigrationPlan } | undefined>;
  /**
   * Applies the pending migrations in order, one process at a time, and stops at the first failure. If the database
   * supports it, the failed migration is rolled back completely.
   * @throws ConfigurationError when a migration fails or has failed before, an applied one has been changed since, or
   *   the database has tables that no migration created
   */
  deploy(options?: {
    /**
     * Records the pending migrations without running them, for a database whose tables already match the definitions
     * (`keelson migrate deploy --baseline`). @default false
     */
    readonly baseline?: boolean | undefined;
    readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  }): Promise<{ readonly applied: readonly string[] }>;
  /**
   * Records the outcome of a migration that failed halfway, after you have checked the database
   * (`keelson migrate resolve <name> --as applied`).
   * @throws ConfigurationError when the migration has not failed
   */
  resolve(name: string, as: "applied" | "rolled-back"): Promise<void>;
  close(): Promise<void>;
}
