import type { EntityLike, EntityModel } from "../../../entity/index.ts";
import type { Logger } from "../../../kernel/index.ts";

/** The database that migrations are for. */
export interface MigrationTarget {
  readonly provider: "sqlite" | "postgresql" | "mysql";
  /** `file:…`, `postgresql://…` or `mysql://…`. */
  readonly url: string;
}

/** The effect of one or a few statements of a migration. */
export interface SchemaChange {
  /** What changes, for people: `table "post" gets column "title"`. */
  readonly sentence: string;
  /** Whether rows may lose values. */
  readonly destructive: boolean;
  /** What kind of change it is, for scripts. */
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

/** The changes that make a database fit the definitions. */
export interface MigrationPlan {
  /** Destructive changes first. */
  readonly changes: readonly SchemaChange[];
  /** The statements, renames first. */
  readonly sql: string;
  readonly isEmpty: boolean;
}

/** The progress of long work. */
export interface MigrationProgress {
  /** The current migration, or the current step of a push. */
  readonly name: string;
  /** Finished steps. */
  readonly done: number;
  readonly total: number;
}

/** Where a database stands. */
export interface MigrationStatus {
  /** Folders of migrations that the database has not seen, oldest first. */
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

/** A database and the definitions that it is to fit. */
export interface Migrations {
  /** What would make the database fit the definitions. */
  diff(): Promise<MigrationPlan>;
  status(): Promise<MigrationStatus>;
  /**
   * Makes the database fit the definitions, without a migration; all at once or not at all.
   * @throws ConfigurationError when values would be lost and that is not accepted, naming each loss
   */
  push(options?: {
    /** @default false */
    readonly acceptDataLoss?: boolean | undefined;
    readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  }): Promise<MigrationPlan>;
  /**
   * Writes the migration that leads from the migrations of the folder to the definitions; undefined when there is
   * nothing to write. The database is not changed.
   * @throws ConfigurationError when values would be lost and that is not accepted, naming each loss
   */
  create(
    name: string,
    options?: {
      /** @default false */
      readonly acceptDataLoss?: boolean | undefined;
    },
  ): Promise<{ readonly directory: string; readonly plan: MigrationPlan } | undefined>;
  /**
   * Applies the pending migrations in their order, one process at a time, and stops at the first that fails. Where the
   * database allows it, nothing of that one is kept.
   * @throws ConfigurationError when one fails, one has failed before, one that was applied has changed since, or the
   *   database has tables that no migration made
   */
  deploy(options?: {
    /**
     * Records the pending migrations without running them, for a database whose tables fit the definitions already
     * (`keelson migrate deploy --baseline`). @default false
     */
    readonly baseline?: boolean | undefined;
    readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  }): Promise<{ readonly applied: readonly string[] }>;
  /**
   * Records how a migration that failed halfway ended, after you have looked at the database
   * (`keelson migrate resolve <name> --as applied`).
   * @throws ConfigurationError when it did not fail
   */
  resolve(name: string, as: "applied" | "rolled-back"): Promise<void>;
  close(): Promise<void>;
}
