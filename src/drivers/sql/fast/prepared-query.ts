import type { Connection, PoolClient, Submittable } from "pg";

type Value = string | null;

/** The result of a query. */
export interface Answered {
  readonly rows: Value[][];
  /** The number of rows found or written. */
  readonly count: number;
}
type Done = (error: Error | null, result?: Answered) => void;

/** PostgreSQL's type id of booleans (pg_type.oid), and their text format. */
export const BOOLEAN = 16;
export const isTrue = (text: string | null): boolean => text === "t";

/** A command without values, such as `BEGIN`. */
export interface CommandBefore {
  readonly text: string;
  /** Milliseconds until a silent connection is closed; 0 for none. */
  readonly timeout: number;
}

/** The name of an unprepared statement. */
const UNNAMED = "";

/** The boolean columns of the statements that a connection has prepared; valid for the connection's lifetime. */
const prepared = new WeakMap<Connection, Map<string, readonly number[]>>();

/**
 * A statement, prepared if it has a name, whose rows contain the server's texts, except for booleans. `pg`'s own query
 * copies its input, requests a description of the columns for each run, and makes objects of the descriptions. Here the
 * columns are described once per connection.
 */
export class PreparedQuery implements Submittable {
  /** Differs from the names that `pg` uses for its own queries. */
  readonly #name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  #before: CommandBefore | undefined;
  #limit: NodeJS.Timeout | undefined;
  #rows: Value[][] = [];
  #count = 0;
  /** The boolean columns, once they are known. */
  #booleans: readonly number[] | undefined;
  #isKnown = false;
  /** Set by the client that runs it. */
  callback: Done | undefined;

  /**
   * @param name undefined for an unprepared statement
   * @param before a command that is sent with the statement and runs before it
   */
  constructor(name: string | undefined, text: string, values: readonly unknown[], before?: CommandBefore) {
    this.#name = name === undefined ? UNNAMED : `${name}_pool`;
    this.text = text;
    this.#values = values;
    this.#before = before;
  }

  /** Runs the statement on a pool connection. */
  sentTo(client: PoolClient): Promise<Answered> {
    return new Promise((resolve, reject) => {
      this.callback = (error, result) => (error === null ? resolve(result as Answered) : reject(error));
      client.query(this);
    });
  }

  submit(connection: Connection): void {
    const name = this.#name;
    this.#booleans = prepared.get(connection)?.get(name);
    this.#isKnown = this.#booleans !== undefined;
    connection.stream.cork();
    try {
      if (this.#before !== undefined) this.#sendBefore(connection, this.#before);
      if (!this.#isKnown) {
        // A failed run may have prepared it.
        if (name !== UNNAMED) connection.close({ type: "S", name }, true);
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

  #sendBefore(connection: Connection, { text, timeout }: CommandBefore): void {
    connection.parse({ name: UNNAMED, text, types: [] }, true);
    connection.bind({ statement: UNNAMED, values: [] }, true);
    connection.execute(null, true);
    connection.flush(); // the server reports the command's end before it runs the statement
    if (timeout > 0)
      this.#limit = setTimeout(() => connection.stream.destroy(new Error("Query read timeout")), timeout);
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#booleans = fields.flatMap(({ dataTypeID }, index) => (dataTypeID === BOOLEAN ? [index] : []));
  }

  handleDataRow({ fields }: { readonly fields: Value[] }): void {
    for (const index of this.#booleans as readonly number[])
      if (fields[index] !== null) (fields as unknown[])[index] = isTrue(fields[index] as string);
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }, connection: Connection): void {
    if (this.#before !== undefined) {
      this.#before = undefined;
      clearTimeout(this.#limit);
      return;
    }
    this.#count = Number(text.slice(text.lastIndexOf(" ") + 1)) || 0;
    if (this.#isKnown || this.#name === UNNAMED) return;
    const known = prepared.get(connection) ?? new Map<string, readonly number[]>();
    prepared.set(connection, known.set(this.#name, this.#booleans ?? []));
  }

  handleError(error: Error): void {
    clearTimeout(this.#limit);
    this.callback?.(error);
  }

  handleReadyForQuery(): void {
    const rows = this.#rows;
    this.#rows = []; // frees the rows: the pool keeps the first and the last query of each connection
    this.callback?.(null, { rows, count: this.#count });
  }
}

/** Converts a value to PostgreSQL's text format; the codecs return texts, numbers, booleans and lists of these. */
function toText(value: unknown): Value {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? `{${value.map(member).join(",")}}` : String(value);
}

function member(value: unknown): string {
  return value === null ? "NULL" : `"${String(value).replace(/[\\"]/g, "\\$&")}"`;
}
