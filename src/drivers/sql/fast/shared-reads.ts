import type { AnyEntity } from "../../../entity/index.ts";
import { and, type Compare, type Condition, type Row } from "../../../gate/index.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { rowsOf, type Selection, selectByIdQuery } from "../statement/select-query.ts";
import type { SqlSession } from "../statement/sql-connection.ts";

/** Reads that can share a statement: the same columns with the same other conditions. */
interface Group {
  readonly entity: AnyEntity;
  readonly selection: Selection;
  /** Conditions other than the id. */
  readonly rest: Condition;
}

/** Reads single records by id, together with other reads of the same event loop turn. */
export function sharedReads(
  session: SqlSession,
): (entity: AnyEntity, selection: Selection, by: ById) => Promise<Row[]> {
  const read = readTogether(async ({ entity, selection, rest }: Group, ids) => {
    const query = selectByIdQuery(session.connection(), entity, selection, ids, rest);
    return session.read({ model: entity.name, operation: "find" }, async (client) =>
      rowsOf(selection, await client.queryRaw(query)),
    );
  });
  return (entity, selection, { id, rest }) => {
    const values: unknown[] = [];
    const shape = conditionShape(rest, session.connection().builder.provider, values);
    const key = `${entity.name} ${selection.asText} ${selection.key} ${shape} ${values.length === 0 ? "" : JSON.stringify(values)}`;
    return read(key, { entity, selection, rest }, id);
  };
}

/** A condition split into its single id and the remaining conditions. */
export interface ById {
  readonly id: string;
  readonly rest: Condition;
}

function isId(condition: Condition): condition is Compare {
  if (condition.op !== "compare" || condition.test !== "eq") return false;
  return condition.column.role === "id" && condition.value !== null;
}

/** Splits a condition; undefined unless it contains exactly one id. */
export function byId(condition: Condition): ById | undefined {
  const parts = condition.op === "and" ? condition.of : [condition];
  const ids = parts.filter(isId);
  if (ids.length !== 1) return undefined;
  return { id: ids[0]?.value as string, rest: and(parts.filter((part) => !isId(part))) };
}

interface Waiting {
  readonly id: string;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads of one turn that differ in the id only. */
interface Batch<G> {
  readonly group: G;
  readonly waiting: Waiting[];
}

/** Maximum number of reads in one statement; larger statements are not faster than two of this size. */
const MAX_BATCH = 64;

// Saved here, so that a fake clock in tests does not stop the database.
const soon = setImmediate;

/**
 * Combines the reads by id of one turn of the event loop into one statement, since most of a read's cost is per
 * statement. A single read only waits for the end of the turn.
 * @param load reads the records of a group by id
 * @returns a function that reads one record; reads with the same key belong to the same group
 */
export function readTogether<G>(
  load: (group: G, ids: readonly string[]) => Promise<readonly Row[]>,
): (key: string, group: G, id: string) => Promise<Row[]> {
  const batches = new Map<string, Batch<G>>();

  async function read({ group, waiting }: Batch<G>): Promise<void> {
    try {
      answer(waiting, await load(group, [...new Set(waiting.map(({ id }) => id))]));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Not awaited: results and failures are passed to the callers. */
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

/** Passes each caller its own copy of a record. */
function answer(waiting: readonly Waiting[], rows: readonly Row[]): void {
  const found = new Map(rows.map((row) => [row.id, row]));
  const given = new Set<string>();
  for (const { id, resolve } of waiting) {
    const row = found.get(id);
    if (row === undefined) resolve([]);
    else resolve([given.has(id) ? structuredClone(row) : row]);
    given.add(id);
  }
}
