import type { ArgType, SqlQuery } from "@prisma/driver-adapter-utils";
import type { CompiledQuery } from "kysely";
import { LRUCache } from "lru-cache";
import { DatabaseError } from "../../../kernel/index.ts";
import { Slot } from "../condition/slot.ts";

/** A statement for any values. */
export interface Statement {
  /** This statement with values, which came in the order of the slots. */
  query(values: readonly unknown[]): NamedQuery;
}

/** What an adapter is asked; `statementNames` finds the name in it. */
export interface NamedQuery extends SqlQuery {
  readonly statementName: string | undefined;
}

/** Statements that are kept; an app has a few dozen, and callers can make up more. */
const MAX_STATEMENTS = 1_000;
/** Prepared statements stay in the memory of each connection of the server, so they are not for every text. */
const MAX_NAMES = 500;

/** Statements by shape: each is written once and serves all operations that differ in values only. */
export class StatementCache {
  readonly #statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });
  #names = 0;

  /** @param write Writes the statement of this shape */
  get(shape: string, write: () => CompiledQuery): Statement {
    let statement = this.#statements.get(shape);
    if (statement === undefined) {
      const name = this.#names < MAX_NAMES ? `keelson_${this.#names++}` : undefined;
      statement = toStatement(write(), name);
      this.#statements.set(shape, statement);
    }
    return statement;
  }
}

/** @param statementName Name for a prepared statement. @default none */
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
