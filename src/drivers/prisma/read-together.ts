import type { Row } from "../../kernel/index.ts";

/** Finds one record by id. */
export type ReadById = (id: string) => Promise<Row | null>;

interface Waiting {
  readonly id: string;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Statements with hundreds of parameters gain nothing over two of them. */
const MAX_BATCH = 64;

// Taken once: a test's fake clock must not stop the database.
const soon = setImmediate;

/** Numbers of ids that statements ask for, so that a database sees a handful of statements, not one per number. */
function paddedLength(length: number): number {
  return 2 ** Math.ceil(Math.log2(length));
}

/**
 * Joins the reads by id of one turn of the event loop into one statement: most of what a read costs is per statement.
 * A read on its own waits for nothing but the end of the turn.
 * @param one Reads a single record
 * @param many Reads records by ids; ids may occur twice, the last one does to fill up the list
 */
export function readTogether(one: ReadById, many: (ids: readonly string[]) => Promise<readonly Row[]>): ReadById {
  let batch: Waiting[] = [];

  async function read(waiting: readonly Waiting[]): Promise<void> {
    try {
      const ids = [...new Set(waiting.map(({ id }) => id))];
      const [only] = ids;
      if (ids.length === 1) return answer(waiting, [await one(only as string)]);
      const length = paddedLength(ids.length);
      while (ids.length < length) ids.push(ids.at(-1) as string);
      answer(waiting, await many(ids));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  function flush(): void {
    const waiting = batch;
    batch = [];
    if (waiting.length > 0) void read(waiting); // answers and failures reach those who wait
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (batch.length === 0) soon(flush);
      batch.push({ id, resolve, reject });
      if (batch.length >= MAX_BATCH) flush();
    });
}

/** Each asker gets an object of its own. */
function answer(waiting: readonly Waiting[], rows: readonly (Row | null)[]): void {
  const found = new Map(rows.map((row) => [row?.id, row]));
  const given = new Set<string>();
  for (const { id, resolve } of waiting) {
    const row = found.get(id) ?? null;
    resolve(given.has(id) && row !== null ? structuredClone(row) : row);
    given.add(id);
  }
}
