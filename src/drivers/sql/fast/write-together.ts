import type { SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Row } from "../../../gate/index.ts";
import { PrismaFailure, type Statement } from "../errors/prisma-failure.ts";
import type { SqlSession } from "../statement/sql-connection.ts";

/** Values of one write, in the order of the statement's slots. */
export type WriteValues = readonly unknown[];

/** Writes of single records that differ in nothing but their values. */
export interface WriteKind {
  /** The same text for writes of the same kind. */
  readonly key: string;
  readonly statement: Statement;
  /** Writes that one statement takes. */
  readonly most: number;
  /** The record that one write leaves behind; null when it matched none. */
  one(client: SqlQueryable, values: WriteValues): Promise<Row | null>;
  /**
   * The records that several writes leave behind, in one statement, in the order of the writes; undefined for those
   * that it left out, because they did not match or another transaction has locked them.
   */
  several(client: SqlQueryable, values: readonly WriteValues[]): Promise<readonly (Row | undefined)[]>;
}

/** Writes a record, together with other writes of its kind in the same turn of the event loop. */
export type WriteTogether = (kind: WriteKind, id: string, values: WriteValues) => Promise<Row | null>;

interface Waiting {
  readonly values: WriteValues;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes of one turn, by id: two of the same record are two statements. */
interface Batch {
  readonly kind: WriteKind;
  readonly waiting: Map<string, Waiting>;
}

// Taken once: a test's fake clock must not stop the database.
const soon = setImmediate;

/**
 * Classes of SQLSTATEs with which a server refuses a statement, or gives it up, and has stored nothing of it: values, data that is
 * wrong for its column, constraints, rights and names, views, conflicts, limits of the server, triggers (PostgreSQL, appendix A).
 */
const REFUSALS = new Set(["21", "22", "23", "42", "44", "40", "54", "P0"]);
/** The statement took too long, maybe for the sake of one of its writes. */
const GIVEN_UP = "57014";

function isRefusal({ cause }: { readonly cause?: unknown }): boolean {
  if (!(cause instanceof PrismaFailure) || cause.sqlState === undefined) return false;
  return REFUSALS.has(cause.sqlState.slice(0, 2)) || cause.sqlState === GIVEN_UP;
}

/**
 * Joins writes of one turn of the event loop into one statement: most of what a write costs is per statement. Each gets
 * the answer that it would have got on its own: where the database refuses a statement for the sake of one of its writes,
 * or leaves one out, they are asked for one by one. Not for transactions, whose statements have an order.
 */
export function writeTogether(session: SqlSession): WriteTogether {
  const batches = new Map<string, Batch>();

  async function alone({ statement, one }: WriteKind, { values, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await session.write(statement, (client) => one(client, values)));
    } catch (error) {
      reject(error);
    }
  }

  /** Answers and failures reach those who wait. */
  async function send(batch: Batch): Promise<void> {
    const { kind, waiting } = batch;
    if (batches.get(kind.key) === batch) batches.delete(kind.key);
    const all = [...waiting.values()];
    const [first] = all;
    if (all.length === 1) return alone(kind, first as Waiting);
    try {
      const values = all.map((one) => one.values);
      const rows = await session.write(kind.statement, (client) => kind.several(client, values));
      for (const [index, one] of all.entries()) {
        const row = rows[index];
        if (row === undefined) void alone(kind, one);
        else one.resolve(row);
      }
    } catch (error) {
      const isOnes = isRefusal(error as Error);
      for (const one of all)
        if (isOnes) void alone(kind, one);
        else one.reject(error);
    }
  }

  return (kind, id, values) =>
    new Promise((resolve, reject) => {
      const one: Waiting = { values, resolve, reject };
      const open = batches.get(kind.key);
      if (open !== undefined && open.waiting.size < kind.most && !open.waiting.has(id)) {
        open.waiting.set(id, one);
        return;
      }
      const batch: Batch = { kind, waiting: new Map([[id, one]]) };
      batches.set(kind.key, batch);
      soon(() => void send(batch));
    });
}
