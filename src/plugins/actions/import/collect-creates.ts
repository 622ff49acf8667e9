import { type AnyEntity, type EntityModel, jsonText } from "../../../entity/index.ts";
import {
  type Compare,
  type Condition,
  type Driver,
  type Find,
  type Insert,
  looksAt,
  type Middleware,
  type ResultOf,
  type Row,
  type Statement,
  soleId,
  type Update,
  type Written,
  withMiddleware,
} from "../../../gate/index.ts";
import { BadRequestError, ConflictError } from "../../../kernel/index.ts";
import type { Owners, UniqueKey } from "./unique-values.ts";

/** A transaction's driver that stores new records of one entity together, in one statement. */
export interface CollectedWrites {
  readonly driver: Driver;
  readonly owners: Owners;
  flush(): Promise<void>;
  /** The error of the first failed statement; the transaction cannot continue after it. */
  readonly failure: unknown;
  /**
   * The number of statements that changed something. A row can only be refused alone if it did not add to this number.
   */
  readonly changes: number;
}

interface CollectOptions {
  readonly model: EntityModel;
  readonly entity: AnyEntity;
  readonly owners: Owners;
}

/**
 * Collects the creates of one entity and stores them in one statement, before any statement that could depend on them.
 * Duplicate unique values are refused at once with the database's error, because a failed statement would end the
 * transaction. Reads of single records that the creates cannot affect are remembered until something else is written:
 * rows of an import often refer to the same records. Checks that follow a create are repeated after its statement.
 */
export function collectCreates(inner: Driver, { model, entity, owners }: CollectOptions): CollectedWrites {
  let waiting = new Map<string, Row>();
  /** Reads for checks that follow the statement of a waiting record. */
  let decisive = new Map<string, DecisiveRead>();
  let isChecked = false;
  let storing: Promise<unknown> = Promise.resolve();
  let changes = 0;
  let failure: unknown;
  const remembered = new RememberedReads();
  const isCollected = ({ name }: AnyEntity): boolean => name === entity.name;
  const isolated = isolatedEntities(model);
  const isIsolated = (of: AnyEntity): boolean => isolated.has(of.name) && !isCollected(of);

  /**
   * Notes the first failure. A BadRequestError is thrown before a statement is sent, so the transaction can continue.
   */
  async function noting<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      if (!(error instanceof BadRequestError)) failure ??= error;
      throw error;
    }
  }

  async function flush(): Promise<void> {
    if (waiting.size > 0) {
      const rows = [...waiting.values()];
      const reads = [...decisive.values()];
      waiting = new Map();
      decisive = new Map();
      isChecked = false;
      storing = storing.then(() => noting(store(rows, reads)));
    }
    await storing;
  }

  /** Stores records. The statement may wait for other transactions, so the checks that follow it read again. */
  async function store(rows: readonly Row[], reads: readonly DecisiveRead[]): Promise<void> {
    await inner.createMany(entity, rows);
    for (const { statement, answer } of reads)
      if (contentOf(await inner.execute(statement)) !== contentOf(await answer))
        throw new ConflictError("What the records refer to has changed meanwhile");
  }

  /** Stores the waiting records if a statement about these records could depend on them. */
  async function settle(of: AnyEntity, where: Condition): Promise<"open" | "stable"> {
    const isReached = looksAt(where, entity);
    if (!isReached && !isCollected(of)) return isIsolated(of) ? "open" : "stable";
    const id = soleId(where);
    const isElsewhere = !isReached && id !== undefined && !waiting.has(id);
    if (!isElsewhere) await flush();
    return "open";
  }

  async function write<S extends Statement>(statement: S): Promise<ResultOf<S>> {
    await flush();
    remembered.forget();
    changes++;
    return noting(inner.execute(statement));
  }

  async function find(statement: Find): Promise<Row[]> {
    const state = await settle(statement.entity, statement.where);
    const read = (): Promise<Row[]> => noting(inner.execute(statement));
    if (statement.lock) {
      remembered.forget(); // reads after this one are about locked records
      return read();
    }
    const answer = state === "open" || statement.limit !== 1 ? read() : remembered.ask(statement, read);
    if (isChecked) decisive.set(keyOfFind(statement), { statement, answer });
    return answer;
  }

  async function insert(statement: Insert): Promise<Written> {
    const { rows, where, returning, checked } = statement;
    const [data] = rows;
    // An entity without relations, such as a log, does not depend on the waiting records.
    if (isIsolated(statement.entity)) return noting(inner.execute(statement));
    if (!isCollected(statement.entity)) return write(statement);
    if (where !== undefined || returning !== true || data?.id === undefined)
      return write(statement).finally(() => owners.forget());
    const taken = await owners.keyTaken(data);
    if (taken !== undefined) throw conflictOf(taken);
    waiting.set(data.id as string, { ...data });
    isChecked ||= checked === true;
    owners.add(data);
    changes++;
    return { count: 1, rows: [{ ...data }] };
  }

  async function update(statement: Update): Promise<Written> {
    const { where, data } = statement;
    const id = soleId(where);
    if (!isCollected(statement.entity)) return write(statement);
    if (id === undefined) return write(statement).finally(() => owners.forget());
    await settle(entity, where);
    if (Object.values(data).some((value) => waiting.has(value as string))) await flush();
    remembered.forget();
    const taken = await owners.keyTaken(data, id);
    if (taken !== undefined) {
      // An update that a rule refuses matches nothing, and must not reveal the conflict.
      const found = await noting(inner.execute({ kind: "find", entity, where, select: ["id"], limit: 1 }));
      if (found.length === 0) return { count: 0, rows: [] };
      throw conflictOf(taken);
    }
    if (!(await owners.keep(data, id))) owners.forget();
    const written = await noting(inner.execute(statement));
    if (written.count > 0) changes++;
    else owners.forget(); // the record may have other values by now
    return written;
  }

  const middleware: Middleware = async (statement) => {
    switch (statement.kind) {
      case "find":
        return find(statement);
      case "count":
      case "aggregate":
        await settle(statement.entity, statement.where);
        return noting(inner.execute(statement));
      case "pairs":
        await flush();
        return noting(inner.execute(statement));
      case "insert":
        return insert(statement);
      case "update":
        return update(statement);
      case "delete":
        return write(statement).finally(() => owners.forget());
      default:
        return write(statement);
    }
  };
  const driver: Driver = withMiddleware(inner, middleware, { transaction: (work) => work(driver.execute) });
  return {
    driver,
    owners,
    flush,
    get failure() {
      return failure;
    },
    get changes() {
      return changes;
    },
  };
}

interface DecisiveRead {
  readonly statement: Find;
  readonly answer: Promise<readonly Row[]>;
}

/** Records as text, in any order. */
function contentOf(rows: readonly Row[]): string {
  return rows.map(jsonText).sort().join();
}

/** The error of the database for a duplicate of a unique key. */
function conflictOf(fields: UniqueKey): ConflictError {
  return new ConflictError(undefined, { fields });
}

/** Results of reads of single records, valid until something is written that could change them. */
class RememberedReads {
  readonly #answers = new Map<string, Promise<readonly Row[]>>();

  async ask(find: Find, read: () => Promise<readonly Row[]>): Promise<Row[]> {
    const key = keyOfFind(find);
    const answer = this.#answers.get(key) ?? read();
    this.#answers.set(key, answer);
    return structuredClone(await answer) as Row[];
  }

  forget(): void {
    this.#answers.clear();
  }
}

function keyOfFind({ entity, where, select, sort, limit, offset, textMoments }: Find): string {
  return jsonText([entity.name, keyOf(where), select, sort, limit, offset, textMoments]);
}

/** A condition as a JSON value: equal conditions have equal values. */
function keyOf(condition: Condition): unknown {
  switch (condition.op) {
    case "and":
    case "or":
      return [condition.op, ...condition.of.map(keyOf)];
    case "not":
      return ["not", keyOf(condition.of)];
    case "compare":
      return [condition.column.name, condition.column.path, condition.test, condition.value, recordKey(condition)];
    case "related":
      return [condition.relation.name, keyOf(condition.matches)];
    default:
      return condition.op;
  }
}

function recordKey({ record }: Compare): unknown {
  return record && [record.entity.name, keyOf(record.where)];
}

const isolatedOf = new WeakMap<EntityModel, ReadonlySet<string>>();

/** Names of the entities without relations in either direction, computed once per model. */
function isolatedEntities(model: EntityModel): ReadonlySet<string> {
  const known = isolatedOf.get(model);
  if (known !== undefined) return known;
  const relations = model.entities.flatMap((entity) => model.relationsOf(entity));
  const related = new Set(relations.flatMap(({ source, target }) => [source.name, target.name]));
  const isolated = new Set(model.entities.map(({ name }) => name).filter((name) => !related.has(name)));
  isolatedOf.set(model, isolated);
  return isolated;
}
