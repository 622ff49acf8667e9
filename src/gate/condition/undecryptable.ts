import { DecryptionError } from "../../kernel/index.ts";
import type { Row } from "./where.ts";

// Enumerable like the tag: a copy has the same nulls in it.
const kUndecryptable: unique symbol = Symbol("keelson.undecryptable");

/** Notes which columns of a row are null only because what is stored in them cannot be decrypted. */
export function noteUndecryptable(row: Row, columns: ReadonlySet<string>): void {
  (row as Record<symbol, unknown>)[kUndecryptable] = columns;
}

/** Whether a column is such a null, and has not been given another value since. */
export function isUndecryptable(row: Row, column: string): boolean {
  const columns = (row as Record<symbol, unknown>)[kUndecryptable] as ReadonlySet<string> | undefined;
  return columns?.has(column) === true && row[column] === null;
}

/**
 * A row as code that decides by it may see it. A column that could not be decrypted is null, which is for answers only:
 * a rule would take it for an empty value, so reading it throws a DecryptionError. Other rows are returned as they are.
 */
export function forDecisions(row: Row): Row {
  if (!(kUndecryptable in row)) return row;
  return new Proxy(row, {
    get(target, name) {
      if (typeof name === "string" && isUndecryptable(target, name))
        throw new DecryptionError(`"${name}" cannot be decrypted, and nothing is decided by it`);
      return Reflect.get(target, name);
    },
  });
}
