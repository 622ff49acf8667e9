import type { CompiledQuery } from "kysely";
import { LRUCache } from "lru-cache";
import type { Selection, Selections } from "../statement/select-query.ts";
import { type Statement, type Statements, toStatement } from "../statement/sql-connection.ts";

/** Maximum number of cached statements; an app has a few dozen, but callers can cause more. */
const MAX_STATEMENTS = 1_000;
/** Maximum number of named statements: prepared statements use memory on the server for each connection. */
const MAX_NAMES = 500;
/** Maximum number of cached selections; callers can cause any number. */
const MAX_SELECTIONS = 1_000;

/** Caches statements by shape, so that each is written once. */
export class KeptStatements implements Statements {
  readonly #statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });
  readonly #maxNames: number;
  #names = 0;

  /** @param named whether statements get names, so that a server can prepare them */
  constructor(named: boolean) {
    this.#maxNames = named ? MAX_NAMES : 0;
  }

  get(shape: string, write: () => CompiledQuery): Statement {
    let statement = this.#statements.get(shape);
    if (statement === undefined) {
      const name = this.#names < this.#maxNames ? `keelson_${this.#names++}` : undefined;
      statement = toStatement(write(), name);
      this.#statements.set(shape, statement);
    }
    return statement;
  }
}

/** Caches selections by entity and columns. */
export function keptSelections(): Selections {
  const selections = new LRUCache<string, Selection>({ max: MAX_SELECTIONS });
  return {
    get(key, make) {
      let selection = selections.get(key);
      if (selection === undefined) {
        selection = make();
        selections.set(key, selection);
      }
      return selection;
    },
  };
}
