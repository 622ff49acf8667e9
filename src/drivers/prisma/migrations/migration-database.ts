import type { SchemaTarget, Tables } from "../engine/sync-schema.ts";
import type { MigrationFile } from "./migration-folder.ts";

/** The differences between databases for migrations. */
export interface MigrationDatabase {
  readonly packages: SchemaTarget["packages"];
  openTables(): Promise<Tables>;
  /** An empty database of the same kind. */
  openScratch(): Promise<Scratch>;
  openLedger(): Promise<Ledger>;
}

/** A private database for trying migrations; closing it removes it. */
export interface Scratch {
  readonly tables: Tables;
  /** Runs several statements. */
  run(script: string): Promise<void>;
  close(): Promise<void>;
}

/** A row of `_prisma_migrations`, Prisma's own table. */
export interface MigrationRecord {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
  readonly rolledBack: boolean;
}

/** The record of applied migrations. */
export interface Ledger {
  /** Oldest first; empty when the database has no such table. */
  records(): Promise<readonly MigrationRecord[]>;
  /** Runs work while no other process applies migrations; creates the table first. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a script and records it, atomically if the database supports that. @throws any error of the database */
  apply(file: MigrationFile): Promise<void>;
  /** Records a script without running it. */
  record(file: MigrationFile): Promise<void>;
  resolve(name: string, as: "applied" | "rolled-back"): Promise<void>;
  close(): Promise<void>;
}
