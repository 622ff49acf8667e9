import type { CompiledQuery } from "kysely";
import { LRUCache } from "lru-cache";
import type { Selection, Selections } from "../statement/select-query.ts";
import { type Statement, type Statements, toStatement } from "../statement/sql-connection.ts";

/** Statements that are kept; an app has a few dozen, and callers can make up more. */
const MAX_STATEMENTS = 1_000;
/** Prepared statements stay in the memory of each connection of the server, so they are not for every text. */
const MAX_NAMES = 500;
/** Selections that are kept; callers can make up more. */
const MAX_SELECTIONS = 1_000;

/** Statements by shape: each is written once. */
export class KeptStatements implements Statements {
  readonly #statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });
  readonly #maxNames: number;
  #names = 0;

  /** @param named whether they have names, by which a server can prepare them */
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

/** Selections by entity and columns: each is worked out once. */
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
