import type {
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
  SqlResultSet,
} from "@prisma/driver-adapter-utils";
import type { Catalog } from "../../sql/index.ts";

/** Names, with their schema where there is one. */
export interface Foreign {
  readonly tables: readonly string[];
  readonly enums: readonly string[];
}

/** A connection for the schema engine. */
export interface Tables {
  readonly factory: SqlMigrationAwareDriverAdapterFactory;
  /** Tables and types of the same database that belong to other programs, as they are now. */
  foreign(): Promise<Foreign>;
  catalog(): Promise<Catalog>;
  run(statement: string): Promise<void>;
  /** Statements that make way for what the engine cannot do by itself; they come after renames. */
  preparations(): Promise<readonly string[]>;
  /**
   * Makes all changes or none. Tables that other programs create meanwhile are not seen, so they are not taken for
   * leftovers.
   * @param keep `false` undoes the changes at the end; the returned value tells what they would have been
   */
  atomically<T>(change: () => Promise<T>, keep?: boolean): Promise<T>;
  close(): Promise<void>;
}

/** Runs a statement that has no parameters. */
export function runStatement(adapter: Pick<SqlDriverAdapter, "queryRaw">, sql: string): Promise<SqlResultSet> {
  return adapter.queryRaw({ sql, args: [], argTypes: [] });
}
