import type { ArgType } from "@prisma/driver-adapter-utils";
import type { Kysely, Sql } from "kysely";
import type { ColumnDefinition, Provider } from "../../../entity/index.ts";

/** A place for a value in a statement that is compiled before there are values. */
export class Slot {
  /** Which of the operation's values goes here. */
  readonly index: number;
  readonly type: ArgType;

  constructor(index: number, type: ArgType) {
    this.index = index;
    this.type = type;
  }
}

/** The type of a number of rows. */
export const WHOLE_NUMBER: ArgType = Object.freeze({ scalarType: "int", arity: "scalar" });

/** What stands for the values of a condition, in their order. */
export interface Places {
  next(type: ArgType): unknown;
}

/** Gives out the slots of one statement, in the order in which `Values` collects what goes into them. */
export class Slots implements Places {
  #count = 0;

  next(type: ArgType): Slot {
    return new Slot(this.#count++, type);
  }
}

/** Collations that distinguish "a", "A" and "a ": MariaDB's, and that of MySQL 8. */
export const EXACT_COLLATIONS = ["utf8mb4_nopad_bin", "utf8mb4_0900_bin"] as const;
export type ExactCollation = (typeof EXACT_COLLATIONS)[number];

/** The collation of a server, by its version. */
export function exactCollation(version: unknown): ExactCollation {
  return /MariaDB/i.test(String(version)) ? EXACT_COLLATIONS[0] : EXACT_COLLATIONS[1];
}

/** Tables by name, which are known when the app starts. */
export type Tables = Record<string, Record<string, unknown>>;

/** The query builder. */
export interface SqlBuilder {
  readonly provider: Provider;
  readonly db: Kysely<Tables>;
  readonly sql: Sql;
  /** MySQL only: how text is compared. */
  readonly collation: ExactCollation | undefined;
  /** Columns that compare text inexactly, or may do so: statements say the collation. */
  readonly inexact: ReadonlySet<ColumnDefinition>;
}

/**
 * The query builder. Kysely is loaded here, because apps without a database need not wait for it.
 * @param schema Schema of the tables. @default the connection's
 * @param collation MySQL only: how text is compared
 * @param inexact columns that do not compare so by themselves
 */
export async function createSqlBuilder(
  provider: Provider,
  schema: string | undefined,
  collation: ExactCollation | undefined,
  inexact: ReadonlySet<ColumnDefinition>,
): Promise<SqlBuilder> {
  const { createStatementWriter } = await import("./statement-writer.ts");
  const { db, sql } = createStatementWriter<Tables>(provider);
  return { provider, collation, inexact, sql, db: schema === undefined ? db : db.withSchema(schema) };
}
