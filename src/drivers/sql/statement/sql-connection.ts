import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { SqlBuilder } from "../condition/sql-builder.ts";
import type { Connection } from "../session/connection.ts";
import type { Session } from "../session/session.ts";
import type { Moments } from "./row-decoder.ts";
import type { Selections } from "./select-query.ts";
import type { Statements } from "./sql-statement.ts";

/** A database that is asked in SQL. */
export interface SqlConnection extends Connection<SqlDriverAdapter> {
  readonly builder: SqlBuilder;
  /** That of PostgreSQL's tables; elsewhere the connection decides. */
  readonly schema: string | undefined;
  readonly statements: Statements;
  readonly selections: Selections;
  readonly moments: Moments;
}

/** Where statements in SQL go. */
export type SqlSession = Session<SqlQueryable, SqlConnection>;
