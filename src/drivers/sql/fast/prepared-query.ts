import type { Connection, Submittable } from "pg";

type Value = string | null;
type Done = (error: Error | null, result?: { rows: Value[][] }) => void;

/** What PostgreSQL calls the type of Booleans (pg_type.oid), and how it writes them. */
export const BOOLEAN = 16;
export const isTrue = (text: string | null): boolean => text === "t";

/** Which columns of the statements that a connection has prepared are Booleans; they stay for as long as it lives. */
const prepared = new WeakMap<Connection, Map<string, readonly number[]>>();

/**
 * A statement by name, whose rows are the server's texts, but for Booleans. `pg`'s own query copies what it is given,
 * has the columns described for each run, and makes objects of the descriptions; here the columns are described once
 * per connection.
 */
export class PreparedQuery implements Submittable {
  /** `pg` prepares statements of the same name for its own queries. */
  readonly #name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  #rows: Value[][] = [];
  /** Those of its columns that are Booleans, once that is known. */
  #booleans: readonly number[] | undefined;
  #isKnown = false;
  /** Set by the client that it is given to. */
  callback: Done | undefined;

  constructor(name: string, text: string, values: readonly unknown[]) {
    this.#name = `${name}_pool`;
    this.text = text;
    this.#values = values;
  }

  submit(connection: Connection): void {
    const name = this.#name;
    this.#booleans = prepared.get(connection)?.get(name);
    this.#isKnown = this.#booleans !== undefined;
    connection.stream.cork();
    try {
      if (!this.#isKnown) {
        // It may have been prepared by a run that failed.
        connection.close({ type: "S", name }, true);
        connection.parse({ name, text: this.text, types: [] }, true);
      }
      connection.bind({ statement: name, values: this.#values.map(toText) }, true);
      if (!this.#isKnown) connection.describe({ type: "P" }, true);
      connection.execute(null, true);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#booleans = fields.flatMap(({ dataTypeID }, index) => (dataTypeID === BOOLEAN ? [index] : []));
  }

  handleDataRow({ fields }: { readonly fields: Value[] }): void {
    for (const index of this.#booleans as readonly number[])
      if (fields[index] !== null) (fields as unknown[])[index] = isTrue(fields[index] as string);
    this.#rows.push(fields);
  }

  handleCommandComplete(_message: unknown, connection: Connection): void {
    if (this.#isKnown) return;
    const known = prepared.get(connection) ?? new Map<string, readonly number[]>();
    prepared.set(connection, known.set(this.#name, this.#booleans ?? []));
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }

  handleReadyForQuery(): void {
    const rows = this.#rows;
    this.#rows = []; // the pool keeps the first and the last query of each connection
    this.callback?.(null, { rows });
  }
}

/** A value as PostgreSQL reads it from text; the adapter's codecs leave texts, numbers, Booleans and lists of them. */
function toText(value: unknown): Value {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? `{${value.map(member).join(",")}}` : String(value);
}

function member(value: unknown): string {
  return value === null ? "NULL" : `"${String(value).replace(/[\\"]/g, "\\$&")}"`;
}
