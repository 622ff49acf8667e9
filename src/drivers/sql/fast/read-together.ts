import type { Row } from "../../../gate/index.ts";

interface Waiting {
  readonly id: string;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads of one turn that differ in nothing but the id. */
interface Batch<G> {
  readonly group: G;
  readonly waiting: Waiting[];
}

/** Statements with hundreds of parameters gain nothing over two of them. */
const MAX_BATCH = 64;

// Taken once: a test's fake clock must not stop the database.
const soon = setImmediate;

/** Ids, filled up with the last one to a power of two: a database sees a handful of statements, not one per number. */
function padded(ids: readonly string[]): readonly string[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length));
  return [...ids, ...Array<string>(length - ids.length).fill(ids.at(-1) as string)];
}

/**
 * Joins the reads by id of one turn of the event loop into one statement: most of what a read costs is per statement.
 * A read on its own waits for nothing but the end of the turn.
 * @param load Reads the records of a group by their ids, of which the last may be repeated
 * @returns A reader: reads with the same key are of the same group
 */
export function readTogether<G>(
  load: (group: G, ids: readonly string[]) => Promise<readonly Row[]>,
): (key: string, group: G, id: string) => Promise<Row | null> {
  const batches = new Map<string, Batch<G>>();

  async function read({ group, waiting }: Batch<G>): Promise<void> {
    try {
      const ids = [...new Set(waiting.map(({ id }) => id))];
      answer(waiting, await load(group, padded(ids)));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Answers and failures reach those who wait. */
  function flush(key: string): void {
    const batch = batches.get(key);
    batches.delete(key);
    if (batch !== undefined) void read(batch);
  }

  function flushAll(): void {
    for (const key of [...batches.keys()]) flush(key);
  }

  return (key, group, id) =>
    new Promise((resolve, reject) => {
      let batch = batches.get(key);
      if (batch === undefined) {
        if (batches.size === 0) soon(flushAll);
        batch = { group, waiting: [] };
        batches.set(key, batch);
      }
      batch.waiting.push({ id, resolve, reject });
      if (batch.waiting.length >= MAX_BATCH) flush(key);
    });
}

/** Each asker gets an object of its own. */
function answer(waiting: readonly Waiting[], rows: readonly Row[]): void {
  const found = new Map(rows.map((row) => [row.id, row]));
  const given = new Set<string>();
  for (const { id, resolve } of waiting) {
    const row = found.get(id) ?? null;
    resolve(given.has(id) && row !== null ? structuredClone(row) : row);
    given.add(id);
  }
}
