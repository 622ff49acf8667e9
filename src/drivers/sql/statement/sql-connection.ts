import type { ArgType, SqlDriverAdapter, SqlQuery, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { CompiledQuery } from "kysely";
import { DatabaseError } from "../../../kernel/index.ts";
import type { Moments } from "../condition/column-codec.ts";
import { Slot, type SqlBuilder } from "../condition/sql-builder.ts";
import type { Connection } from "../session/connection.ts";
import type { Session } from "../session/session.ts";
import type { Selections } from "./select-query.ts";

/** A database that runs SQL. */
export interface SqlConnection extends Connection<SqlDriverAdapter> {
  readonly builder: SqlBuilder;
  /** The schema of PostgreSQL's tables; on other databases the connection determines it. */
  readonly schema: string | undefined;
  readonly statements: Statements;
  readonly selections: Selections;
  readonly moments: Moments;
}

/** The session of SQL statements. */
export type SqlSession = Session<SqlQueryable, SqlConnection>;

/** A compiled statement. */
export interface Statement {
  /** Adds values to the statement, in the order of its slots. */
  query(values: readonly unknown[]): NamedQuery;
}

/** A query for an adapter; `statementNames` reads its name. */
export interface NamedQuery extends SqlQuery {
  readonly statementName: string | undefined;
}

/** Finds statements by shape: operations of the same shape differ in values only. */
export interface Statements {
  /** @param write writes the statement of this shape */
  get(shape: string, write: () => CompiledQuery): Statement;
}

/** Writes a statement for each operation, without a cache. */
export const WRITTEN_ANEW: Statements = { get: (_shape, write) => toStatement(write()) };

/** @param statementName the name of a prepared statement @default unnamed */
export function toStatement({ sql, parameters }: CompiledQuery, statementName?: string): Statement {
  const order: number[] = [];
  const argTypes: ArgType[] = [];
  for (const parameter of parameters) {
    if (!(parameter instanceof Slot)) throw new DatabaseError("A statement has a value of its own");
    order.push(parameter.index);
    argTypes.push(parameter.type);
  }
  const isInOrder = order.every((index, position) => index === position);
  return {
    query: (values) => ({
      sql,
      args: isInOrder ? (values as unknown[]) : order.map((index) => values[index]),
      argTypes,
      statementName,
    }),
  };
}
