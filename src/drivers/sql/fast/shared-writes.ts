import type { SqlQueryable } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition, EntityModel } from "../../../entity/index.ts";
import { type Condition, type Row, visitCondition } from "../../../gate/index.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import type { Subject } from "../errors/prisma-failure.ts";
import { failureBehind } from "../errors/to-keelson-error.ts";
import { rowsOf, type Selection } from "../statement/select-query.ts";
import type { NamedQuery, SqlConnection, SqlSession } from "../statement/sql-connection.ts";
import {
  changedBy,
  type Encoded,
  insertAllStatement,
  insertStatement,
  updateStatement,
} from "../statement/write-queries.ts";
import { isComposite } from "../tables/table-names.ts";
import { printedUniqueKeys } from "../tables/unique-keys.ts";
import { updatesStatement } from "./updates-statement.ts";

/**
 * Writes single records together with other writes of the same event loop turn. Not for transactions, whose statements
 * are ordered.
 */
export function sharedWrites(session: SqlSession) {
  const together = writeTogether(session);
  const unique = new Map<AnyEntity, ReadonlySet<string>>();
  let model: EntityModel | undefined;
  function uniqueOf(entity: AnyEntity): ReadonlySet<string> {
    const current = session.connection().model;
    if (model !== current) unique.clear(); // the driver was reconnected
    model = current;
    let columns = unique.get(entity);
    if (columns === undefined) {
      columns = uniqueColumns(current, entity);
      unique.set(entity, columns);
    }
    return columns;
  }
  return {
    /** Undefined for a record that must be stored separately. */
    insert(entity: AnyEntity, given: Encoded, all: Selection): (() => Promise<Row | null>) | undefined {
      const kind = insertKind(session.connection(), entity, uniqueOf(entity), [...given.keys()], all);
      return kind && (() => together(kind, given.get("id") ?? Symbol(), [...given.values()]));
    },
    /** Undefined for a record that must be changed separately. */
    update(
      entity: AnyEntity,
      id: string,
      condition: Condition,
      given: Encoded,
      all: Selection,
    ): (() => Promise<Row | null>) | undefined {
      const write = updateKind(session.connection(), entity, uniqueOf(entity), condition, given, all);
      return write && (() => together(write.kind, id, write.values));
    },
  };
}

export type SharedWrites = ReturnType<typeof sharedWrites>;

/** Values of one write, in the order of the statement's slots. */
type WriteValues = readonly unknown[];

/** Writes of single records that differ only in their values. */
interface WriteKind {
  /** The same text for writes of the same kind. */
  readonly key: string;
  readonly statement: Subject;
  /** Maximum number of writes in one statement. */
  readonly most: number;
  /** Runs one write and returns its record; null without a match. */
  one(client: SqlQueryable, values: WriteValues): Promise<Row | null>;
  /**
   * Runs several writes in one statement and returns their records, in the order of the writes; undefined for writes
   * that the statement left out, because they did not match or another transaction has locked their record.
   */
  several(client: SqlQueryable, values: readonly WriteValues[]): Promise<readonly (Row | undefined)[]>;
}

/** Only PostgreSQL's writes return rows and can skip rows that another transaction has locked. */
const WRITES_TOGETHER = "postgresql";
/** Maximum number of records in one shared INSERT; each number of records needs a separate statement. */
const MOST_INSERTS = 8;
/** Maximum number of records in one shared UPDATE; their number is padded to a power of two. */
const MOST_UPDATES = 64;

/**
 * Columns that affect unique values, except the id: a write of one may have to wait until another transaction commits
 * or rolls back. Restored records take their unique values again.
 */
function uniqueColumns(model: EntityModel, entity: AnyEntity): ReadonlySet<string> {
  const columns = new Set(printedUniqueKeys(model, entity).flat());
  if (columns.size > 0 && entity.softDelete !== undefined) columns.add(entity.softDelete.field);
  return columns;
}

async function rows(selection: Selection, client: SqlQueryable, query: NamedQuery): Promise<Row[]> {
  return rowsOf(selection, await client.queryRaw(query));
}

/**
 * How new records with these columns are stored together. Undefined if each must be stored separately, such as when it
 * may wait for another transaction with the same unique value: all writes of a shared statement would wait, too.
 */
function insertKind(
  open: SqlConnection,
  entity: AnyEntity,
  unique: ReadonlySet<string>,
  names: readonly string[],
  all: Selection,
): WriteKind | undefined {
  if (open.dialect.provider !== WRITES_TOGETHER || unique.size > 0 || isComposite(entity)) return undefined;
  return {
    key: `insert ${entity.name} ${names.join()}`,
    statement: { model: entity.name, operation: "insert" },
    most: MOST_INSERTS,
    one: async (client, values) =>
      (await rows(all, client, insertStatement(open, entity, names, 1, all).query(values)))[0] ?? null,
    several: (client, values) =>
      rows(all, client, insertAllStatement(open, entity, names, values.length, all).query(values.flat())),
  };
}

/** The columns of a condition's values, in order; undefined if the condition also uses other rows. */
function comparedColumns(condition: Condition): readonly ColumnDefinition[] | undefined {
  const columns: ColumnDefinition[] = [];
  let isOwn = true;
  visitCondition(condition, (leaf) => {
    if (leaf.op === "compare" && leaf.value === null) return;
    if (leaf.op === "compare" && ["eq", "gt", "gte", "lt", "lte"].includes(leaf.test)) columns.push(leaf.column);
    else isOwn = false;
  });
  return isOwn ? columns : undefined;
}

/**
 * How a record is changed together with others, and its values. Undefined if it must be changed separately, such as
 * when it may wait for a unique value, or for a record that it will refer to.
 */
function updateKind(
  open: SqlConnection,
  entity: AnyEntity,
  unique: ReadonlySet<string>,
  condition: Condition,
  data: Encoded,
  all: Selection,
): { readonly kind: WriteKind; readonly values: WriteValues } | undefined {
  if (open.dialect.provider !== WRITES_TOGETHER || isComposite(entity)) return undefined;
  const changed = changedBy(entity, data);
  const compared = comparedColumns(condition);
  const waits = (name: string): boolean => unique.has(name) || entity.columns[name]?.role === "foreignKey";
  if (compared === undefined || changed.names.some(waits)) return undefined;
  const values: unknown[] = [...changed.values];
  const where = conditionShape(condition, open.builder.provider, values);
  const kind: WriteKind = {
    key: `update ${entity.name} ${changed.names.join()} ${where} ${changed.counts}`,
    statement: { model: entity.name, operation: "update" },
    most: MOST_UPDATES,
    async one(client, given) {
      const query = updateStatement(open, entity, condition, where, changed, all).query(given);
      return (await rows(all, client, query))[0] ?? null;
    },
    async several(client, given) {
      const columns = [...changed.names, ...compared.map(({ name }) => name)];
      const size = 2 ** Math.ceil(Math.log2(given.length));
      const filled = [...given, ...Array<WriteValues>(size - given.length).fill(given.at(-1) as WriteValues)];
      const shape = { condition, where, changed, columns, size };
      const found = await client.queryRaw(updatesStatement(open, entity, shape, all).query(filled.flat()));
      const changes: (Row | undefined)[] = Array(given.length).fill(undefined);
      // A row that was repeated as padding may have the place of any repetition.
      for (const row of found.rows)
        changes[Math.min(Number(row[all.names.length]), given.length - 1)] = all.decode(row, 0);
      return changes;
    },
  };
  return { kind, values };
}

interface Waiting {
  readonly values: WriteValues;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes of one turn, by id: two writes of the same record need two statements. New ids of the database are unknown. */
interface Batch {
  readonly kind: WriteKind;
  readonly waiting: Map<unknown, Waiting>;
}

// Saved here, so that a fake clock in tests does not stop the database.
const soon = setImmediate;

/**
 * Classes of SQLSTATEs for which a server has refused or cancelled a statement and stored nothing: tables whose rules do
 * not support it, values, invalid data, constraints, privileges and names, views, conflicts, server limits, triggers
 * (PostgreSQL, appendix A).
 */
const REFUSALS = new Set(["0A", "21", "22", "23", "42", "44", "40", "54", "P0"]);
/** The statement timed out, possibly because of one of its writes. */
const GIVEN_UP = "57014";

function isRefusal(error: unknown): boolean {
  const state = failureBehind(error)?.sqlState;
  return state !== undefined && (REFUSALS.has(state.slice(0, 2)) || state === GIVEN_UP);
}

/**
 * Combines writes of one turn of the event loop into one statement, since most of a write's cost is per statement. Each
 * write gets its own result: if the database refuses the statement because of one write, or skips one, the writes run
 * one by one. Not for transactions, whose statements are ordered.
 */
function writeTogether(
  session: SqlSession,
): (kind: WriteKind, id: unknown, values: WriteValues) => Promise<Row | null> {
  const batches = new Map<string, Batch>();

  async function alone({ statement, one }: WriteKind, { values, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await session.write(statement, (client) => one(client, values)));
    } catch (error) {
      reject(error);
    }
  }

  /** Runs a batch and passes results and failures to the callers. */
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
      const isOnes = isRefusal(error);
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
