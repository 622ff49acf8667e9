import type { Connection, PoolClient, Submittable } from "pg";

type Value = string | null;

/** What a query brings back. */
export interface Answered {
  readonly rows: Value[][];
  /** How many rows were found or written. */
  readonly count: number;
}
type Done = (error: Error | null, result?: Answered) => void;

/** What PostgreSQL calls the type of Booleans (pg_type.oid), and how it writes them. */
export const BOOLEAN = 16;
export const isTrue = (text: string | null): boolean => text === "t";

/** The name of a statement that is not kept. */
const UNNAMED = "";

/** Which columns of the statements that a connection has prepared are Booleans; they stay for as long as it lives. */
const prepared = new WeakMap<Connection, Map<string, readonly number[]>>();

/**
 * A statement, prepared where it has a name, whose rows are the server's texts, but for Booleans. `pg`'s own query copies what it is given,
 * has the columns described for each run, and makes objects of the descriptions; here the columns are described once
 * per connection.
 */
export class PreparedQuery implements Submittable {
  /** `pg` prepares statements of the same name for its own queries. */
  readonly #name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  /** A command that travels with the statement and runs before it. */
  #before: string | undefined;
  #rows: Value[][] = [];
  #count = 0;
  /** Those of its columns that are Booleans, once that is known. */
  #booleans: readonly number[] | undefined;
  #isKnown = false;
  /** Set by the client that it is given to. */
  callback: Done | undefined;

  /**
   * @param name undefined for a statement that is not kept
   * @param before a command without values that runs first, such as `BEGIN`
   */
  constructor(name: string | undefined, text: string, values: readonly unknown[], before?: string) {
    this.#name = name === undefined ? UNNAMED : `${name}_pool`;
    this.text = text;
    this.#values = values;
    this.#before = before;
  }

  /** Runs on a connection that is taken from a pool. */
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
      if (this.#before !== undefined) {
        connection.parse({ name: UNNAMED, text: this.#before, types: [] }, true);
        connection.bind({ statement: UNNAMED, values: [] }, true);
        connection.execute(null, true);
      }
      if (!this.#isKnown) {
        // It may have been prepared by a run that failed.
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
      return;
    }
    this.#count = Number(text.slice(text.lastIndexOf(" ") + 1)) || 0;
    if (this.#isKnown || this.#name === UNNAMED) return;
    const known = prepared.get(connection) ?? new Map<string, readonly number[]>();
    prepared.set(connection, known.set(this.#name, this.#booleans ?? []));
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }

  handleReadyForQuery(): void {
    const rows = this.#rows;
    this.#rows = []; // the pool keeps the first and the last query of each connection
    this.callback?.(null, { rows, count: this.#count });
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
