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
  /** That of PostgreSQL's tables; elsewhere the connection decides. */
  readonly schema: string | undefined;
  readonly statements: Statements;
  readonly selections: Selections;
  readonly moments: Moments;
}

/** Where statements in SQL go. */
export type SqlSession = Session<SqlQueryable, SqlConnection>;

/** A statement for any values. */
export interface Statement {
  /** This statement with values, which came in the order of the slots. */
  query(values: readonly unknown[]): NamedQuery;
}

/** The query of an adapter; `statementNames` finds the name in it. */
export interface NamedQuery extends SqlQuery {
  readonly statementName: string | undefined;
}

/** Statements by shape: all operations of one shape differ in values only. */
export interface Statements {
  /** @param write Writes the statement of this shape */
  get(shape: string, write: () => CompiledQuery): Statement;
}

/** Each statement is written for its one operation. */
export const WRITTEN_ANEW: Statements = { get: (_shape, write) => toStatement(write()) };

/** @param statementName Name for a prepared statement. @default unnamed */
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
