import { type AnyEntity, type EntityModel, jsonText } from "../../../entity/index.ts";
import {
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
import { BadRequestError } from "../../../kernel/index.ts";
import type { Owners } from "./unique-values.ts";

/** A transaction's driver that stores new records of one entity together. */
export interface CollectedWrites {
  readonly driver: Driver;
  readonly owners: Owners;
  flush(): Promise<void>;
  /** The first statement that failed: the transaction cannot go on after it. */
  readonly failure: unknown;
  /** How many statements changed something; a row that is refused must not have added to it. */
  readonly changes: number;
}

interface CollectOptions {
  readonly model: EntityModel;
  readonly entity: AnyEntity;
  readonly owners: Owners;
}

/**
 * Collects the creates of one entity, and stores them in one statement before anything that could notice that they are
 * missing. A value that only one record can have is refused at once, in the words of the database, because a statement
 * that fails ends the transaction. Reads of single records that these creates cannot change are remembered until
 * something else is written: rows of an import refer to the same records again and again.
 */
export function collectCreates(inner: Driver, { model, entity, owners }: CollectOptions): CollectedWrites {
  let waiting = new Map<string, Row>();
  let storing: Promise<unknown> = Promise.resolve();
  let changes = 0;
  let failure: unknown;
  const remembered = new RememberedReads();
  const isCollected = ({ name }: AnyEntity): boolean => name === entity.name;
  const isolated = isolatedEntities(model);
  const isIsolated = (of: AnyEntity): boolean => isolated.has(of.name) && !isCollected(of);

  /** What is wrong with a question is found before it is sent, and leaves the transaction as it was. */
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
      waiting = new Map();
      storing = storing.then(() => noting(inner.createMany(entity, rows)));
    }
    await storing;
  }

  /** Stores what waits, if a question about records could be about it. */
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
      remembered.forget(); // what is asked from now on is asked about locked records
      return read();
    }
    return state === "open" || statement.limit !== 1 ? read() : remembered.ask(statement, read);
  }

  async function insert(statement: Insert): Promise<Written> {
    const { rows, where, returning } = statement;
    const [data] = rows;
    // A record without relations, such as an entry of a log, does not need the records that wait.
    if (isIsolated(statement.entity)) return noting(inner.execute(statement));
    if (!isCollected(statement.entity)) return write(statement);
    if (where !== undefined || returning !== true || data?.id === undefined)
      return write(statement).finally(() => owners.forget());
    await owners.refuseTaken(data);
    waiting.set(data.id as string, { ...data });
    owners.add(data);
    changes++;
    return { count: 1, rows: [{ ...data }] };
  }

  async function update(statement: Update): Promise<Written> {
    const { where, data } = statement;
    const id = soleId(where);
    if (!isCollected(statement.entity)) return write(statement);
    if (id === undefined) return write(statement).finally(() => owners.forget());
    await owners.refuseTaken(data, id);
    await settle(entity, where);
    if (Object.values(data).some((value) => waiting.has(value as string))) await flush();
    remembered.forget();
    if (!(await owners.keep(data, id))) owners.forget();
    const written = await noting(inner.execute(statement));
    if (written.count > 0) changes++;
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

/** Answers to questions about single records, for as long as nothing is written that could change them. */
class RememberedReads {
  readonly #answers = new Map<string, Promise<readonly Row[]>>();

  async ask(find: Find, read: () => Promise<readonly Row[]>): Promise<Row[]> {
    const { entity, where, select, sort, offset, textMoments } = find;
    const key = jsonText([entity.name, keyOf(where), select, sort, offset, textMoments]);
    const answer = this.#answers.get(key) ?? read();
    this.#answers.set(key, answer);
    return structuredClone(await answer) as Row[];
  }

  forget(): void {
    this.#answers.clear();
  }
}

/** The same JSON for the same conditions. */
function keyOf(condition: Condition): unknown {
  switch (condition.op) {
    case "and":
    case "or":
      return [condition.op, ...condition.of.map(keyOf)];
    case "not":
      return ["not", keyOf(condition.of)];
    case "compare":
      return [condition.column.name, condition.test, condition.value];
    case "related":
      return [condition.relation.name, keyOf(condition.matches)];
    default:
      return condition.op;
  }
}

const isolatedOf = new WeakMap<EntityModel, ReadonlySet<string>>();

/** Names of the entities that have no relation to any, and to which none has one; worked out once per model. */
function isolatedEntities(model: EntityModel): ReadonlySet<string> {
  const known = isolatedOf.get(model);
  if (known !== undefined) return known;
  const relations = model.entities.flatMap((entity) => model.relationsOf(entity));
  const related = new Set(relations.flatMap(({ source, target }) => [source.name, target.name]));
  const isolated = new Set(model.entities.map(({ name }) => name).filter((name) => !related.has(name)));
  isolatedOf.set(model, isolated);
  return isolated;
}
