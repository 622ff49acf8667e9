import type { SqlQueryable } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition, EntityModel } from "../../../entity/index.ts";
import { type Condition, type Row, visitCondition } from "../../../gate/index.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import type { Subject } from "../errors/prisma-failure.ts";
import { failureBehind } from "../errors/to-keelson-error.ts";
import { rowsOf, type Selection } from "../statement/select-query.ts";
import type { NamedQuery, SqlConnection, SqlSession, Statement } from "../statement/sql-connection.ts";
import { changedBy, type Encoded, insertStatement, updateStatement } from "../statement/write-queries.ts";
import { isComposite } from "../tables/table-names.ts";
import { printedUniqueKeys } from "../tables/unique-keys.ts";
import { updatesStatement } from "./updates-statement.ts";

/**
 * Writes single records together with other writes of the same turn. Not for transactions, whose statements have an
 * order.
 */
export function sharedWrites(session: SqlSession) {
  const together = writeTogether(session);
  const unique = new Map<AnyEntity, ReadonlySet<string>>();
  let model: EntityModel | undefined;
  function uniqueOf(entity: AnyEntity): ReadonlySet<string> {
    const current = session.connection().model;
    if (model !== current) unique.clear(); // the driver was connected anew
    model = current;
    let columns = unique.get(entity);
    if (columns === undefined) {
      columns = uniqueColumns(current, entity);
      unique.set(entity, columns);
    }
    return columns;
  }
  return {
    /** Undefined for a record that is stored on its own. */
    insert(entity: AnyEntity, given: Encoded, all: Selection): (() => Promise<Row | null>) | undefined {
      const kind = insertKind(session.connection(), entity, uniqueOf(entity), [...given.keys()], all);
      return kind && (() => together(kind, given.get("id") as string, [...given.values()]));
    },
    /** Undefined for a record that is changed on its own. */
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
  /** Writes that one statement takes. */
  readonly most: number;
  /** The record that one write leaves behind; null without a match. */
  one(client: SqlQueryable, values: WriteValues): Promise<Row | null>;
  /**
   * The records that several writes leave behind, in one statement, in the order of the writes; undefined for those
   * that it left out, because they did not match or another transaction has locked them.
   */
  several(client: SqlQueryable, values: readonly WriteValues[]): Promise<readonly (Row | undefined)[]>;
}

/** The database whose writes return their rows, and can leave out rows that another transaction has locked. */
const WRITES_TOGETHER = "postgresql";
/** Records of one INSERT of single records; each number of them is a statement of its own. */
const MOST_INSERTS = 8;
/** Records of one UPDATE; their number is filled up to a power of two. */
const MOST_UPDATES = 64;

/**
 * Columns that decide whether a unique value is taken, the id aside: a write of one may have to wait until another
 * transaction commits or rolls back. Records that are no longer hidden take their unique values again.
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
 * How new records with values for these columns are stored together; undefined where each is stored on its own, as where
 * it may wait for another transaction that has the same unique value: all writes of a shared statement would wait, too.
 */
function insertKind(
  open: SqlConnection,
  entity: AnyEntity,
  unique: ReadonlySet<string>,
  names: readonly string[],
  all: Selection,
): WriteKind | undefined {
  const isApart = !names.includes("id") || unique.size > 0 || isComposite(entity);
  if (open.dialect.provider !== WRITES_TOGETHER || isApart) return undefined;
  const ofSize = (size: number): Statement => insertStatement(open, entity, names, size, all);
  return {
    key: `insert ${entity.name} ${names.join()}`,
    statement: { model: entity.name, operation: "insert" },
    most: MOST_INSERTS,
    one: async (client, values) => (await rows(all, client, ofSize(1).query(values)))[0] ?? null,
    async several(client, values) {
      const stored = await rows(all, client, ofSize(values.length).query(values.flat()));
      if (stored.length === values.length) return stored; // they come in the order of the values
      // A trigger of the database has skipped some.
      const byId = new Map(stored.map((row) => [row.id, row]));
      return values.map((given) => byId.get(given[names.indexOf("id")]));
    },
  };
}

/** The columns that the values of a condition belong to, in their order; undefined for a condition that is not about its own row. */
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
 * How a record is changed together with others, and its values; undefined where it is changed on its own, as where it may wait for
 * a unique value, or for a record that it is to refer to.
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
  const columns = [...changed.names, ...compared.map(({ name }) => name)];
  const kind: WriteKind = {
    key: `update ${entity.name} ${changed.names.join()} ${where} ${changed.counts}`,
    statement: { model: entity.name, operation: "update" },
    most: MOST_UPDATES,
    async one(client, given) {
      const query = updateStatement(open, entity, condition, where, changed, all).query(given);
      return (await rows(all, client, query))[0] ?? null;
    },
    async several(client, given) {
      const size = 2 ** Math.ceil(Math.log2(given.length));
      const filled = [...given, ...Array<WriteValues>(size - given.length).fill(given.at(-1) as WriteValues)];
      const shape = { condition, where, changed, columns, size };
      const found = await client.queryRaw(updatesStatement(open, entity, shape, all).query(filled.flat()));
      const changes: (Row | undefined)[] = Array(given.length).fill(undefined);
      // A row that was given again and again has the place of any of them.
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
/** The statement took too long, maybe because of one of its writes. */
const GIVEN_UP = "57014";

function isRefusal(error: unknown): boolean {
  const state = failureBehind(error)?.sqlState;
  return state !== undefined && (REFUSALS.has(state.slice(0, 2)) || state === GIVEN_UP);
}

/**
 * Joins writes of one turn of the event loop into one statement: most of what a write costs is per statement. Each gets
 * its own result: where the database refuses a statement because of one write, or leaves one out, the writes run one by
 * one. Not for transactions, whose statements have an order.
 */
function writeTogether(session: SqlSession): (kind: WriteKind, id: string, values: WriteValues) => Promise<Row | null> {
  const batches = new Map<string, Batch>();

  async function alone({ statement, one }: WriteKind, { values, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await session.write(statement, (client) => one(client, values)));
    } catch (error) {
      reject(error);
    }
  }

  /** Results and failures are passed to the callers. */
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
