import type { ArgType } from "@prisma/driver-adapter-utils";
import type { Kysely, Sql } from "kysely";
import type { ColumnDefinition, Provider } from "../../../entity/index.ts";

/** A placeholder for a value in a statement that is compiled without values. */
export class Slot {
  /** The index of the value among the operation's values. */
  readonly index: number;
  readonly type: ArgType;

  constructor(index: number, type: ArgType) {
    this.index = index;
    this.type = type;
  }
}

/** The type of a number of rows. */
export const WHOLE_NUMBER: ArgType = Object.freeze({ scalarType: "int", arity: "scalar" });

/** Makes placeholders for the values of a condition, in order. */
export interface Places {
  next(type: ArgType): unknown;
}

/** Makes the slots of one statement, in the order in which its values are collected. */
export class Slots implements Places {
  #count = 0;

  next(type: ArgType): Slot {
    return new Slot(this.#count++, type);
  }
}

/** Collations that distinguish "a", "A" and "a ": MariaDB's, and MySQL 8's. */
export const EXACT_COLLATIONS = ["utf8mb4_nopad_bin", "utf8mb4_0900_bin"] as const;
export type ExactCollation = (typeof EXACT_COLLATIONS)[number];

/** The exact collation of a server, by its version. */
export function exactCollation(version: unknown): ExactCollation {
  return /MariaDB/i.test(String(version)) ? EXACT_COLLATIONS[0] : EXACT_COLLATIONS[1];
}

/** Tables by name, which are only known at run time. */
export type Tables = Record<string, Record<string, unknown>>;

/** The query builder. */
export interface SqlBuilder {
  readonly provider: Provider;
  readonly db: Kysely<Tables>;
  readonly sql: Sql;
  /** MySQL only: the collation that compares text exactly. */
  readonly collation: ExactCollation | undefined;
  /** Columns that may compare text inexactly: statements state the collation for them. */
  readonly inexact: ReadonlySet<ColumnDefinition>;
}

/**
 * Makes the query builder. Kysely is loaded lazily, so that apps without a database do not wait for it.
 * @param schema the schema of the tables @default the connection's
 * @param collation MySQL only: the collation that compares text exactly
 * @param inexact columns that may compare text inexactly
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
