import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import {
  BadRequestError,
  compileWhere,
  type Driver,
  type EntityRef,
  entityName,
  looksAt,
  NotStoredError,
  overlayDriver,
  type Row,
  soleId,
  type Where,
} from "../../../kernel/index.ts";
import type { Owners } from "./owners.ts";

/**
 * Remembers the first statement of a transaction that failed. What is wrong with a question is found before it is sent, and
 * a create whose condition does not hold has not failed.
 */
class FirstFailure {
  /** Undefined as long as all went well. */
  error: unknown;

  async note<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      if (!(error instanceof BadRequestError || error instanceof NotStoredError)) this.error ??= error;
      throw error;
    }
  }
}

/** Answers to questions about single records, for as long as nothing is written that could change them. */
class RememberedReads {
  readonly #answers = new Map<string, Promise<readonly Row[]>>();

  /** @param query tells questions about one entity apart */
  async ask(entity: string, query: object, read: () => Promise<readonly Row[]>): Promise<Row[]> {
    const key = `${entity} ${JSON.stringify(query)}`;
    const answer = this.#answers.get(key) ?? read();
    this.#answers.set(key, answer);
    return structuredClone(await answer) as Row[];
  }

  forget(): void {
    this.#answers.clear();
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

/** A transaction's driver that stores new records of one entity together. */
export interface CollectedWrites {
  readonly driver: Driver;
  readonly owners: Owners;
  /** Stores what waits. */
  flush(): Promise<void>;
  /** The first statement that failed: the transaction cannot go on after it. */
  readonly failure: unknown;
  /** How many statements changed something; a row that is refused must not have added to it. */
  readonly changes: number;
}

export interface CollectOptions {
  readonly model: EntityModel;
  /** The entity whose records are collected. */
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
  const failure = new FirstFailure();
  const remembered = new RememberedReads();
  const isCollected = (ref: EntityRef): boolean => entityName(ref) === entity.name;
  const isolated = isolatedEntities(model);
  const isIsolated = (ref: EntityRef): boolean => isolated.has(entityName(ref)) && !isCollected(ref);

  async function flush(): Promise<void> {
    if (waiting.size > 0) {
      const rows = [...waiting.values()];
      waiting = new Map();
      storing = storing.then(() => failure.note(inner.createMany(entity, rows)));
    }
    await storing;
  }

  /** Stores what waits, if a question about records could be about it. */
  async function settle(ref: EntityRef, where: Where | undefined): Promise<"open" | "stable"> {
    const of = model.get(entityName(ref)) as AnyEntity;
    const condition = compileWhere(model, of, where);
    const isReached = looksAt(condition, entity);
    if (!isReached && !isCollected(ref)) return isIsolated(ref) ? "open" : "stable";
    const id = soleId(condition);
    const isElsewhere = !isReached && id !== undefined && !waiting.has(id);
    if (!isElsewhere) await flush();
    return "open";
  }

  /** For all that is not collected. */
  async function write<T>(statement: () => Promise<T>): Promise<T> {
    await flush();
    remembered.forget();
    changes++;
    return failure.note(statement());
  }

  async function update(ref: EntityRef, where: Where, data: Row): Promise<Row | null> {
    const isLock = Object.keys(data).every((name) => name === "id");
    if (!isCollected(ref) && !isLock) return write(() => inner.update(ref, where, data));
    if (!isCollected(ref)) {
      remembered.forget(); // what is asked from now on is asked about locked rows
      return failure.note(inner.update(ref, where, data));
    }
    const id = soleId(compileWhere(model, entity, where));
    await owners.refuseTaken(data, id);
    await settle(ref, where);
    if (Object.values(data).some((value) => waiting.has(value as string))) await flush();
    remembered.forget();
    if (!(await owners.keep(data, id))) owners.forget();
    const row = await failure.note(inner.update(ref, where, data));
    if (row !== null && !isLock) changes++;
    return row;
  }

  const driver: Driver = overlayDriver(inner, {
    async findOne(ref, where, options) {
      if ((await settle(ref, where)) === "open") return failure.note(inner.findOne(ref, where, options));
      const ask = async (): Promise<Row[]> => {
        const row = await failure.note(inner.findOne(ref, where, options));
        return row === null ? [] : [row];
      };
      return (await remembered.ask(entityName(ref), [where, options], ask))[0] ?? null;
    },
    async findMany(ref, query = {}) {
      const state = await settle(ref, query.where);
      if (state === "open" || query.limit !== 1) return failure.note(inner.findMany(ref, query));
      return remembered.ask(entityName(ref), query, () => failure.note(inner.findMany(ref, query)));
    },
    async count(ref, where) {
      await settle(ref, where);
      return failure.note(inner.count(ref, where));
    },
    async *stream(ref, query, batchSize) {
      await flush();
      yield* inner.stream(ref, query, batchSize);
    },
    async create(ref, data, options) {
      if (isIsolated(ref)) return failure.note(inner.create(ref, data, options)); // misses nobody, as a log does
      if (!isCollected(ref)) return write(() => inner.create(ref, data, options));
      if (options?.where !== undefined)
        return write(() => inner.create(ref, data, options)).finally(() => owners.forget());
      await owners.refuseTaken(data);
      waiting.set(data.id as string, { ...data });
      owners.add(data);
      changes++;
      return { ...data };
    },
    createMany: (ref, rows) => write(() => inner.createMany(ref, rows)).finally(() => owners.forget()),
    update,
    updateMany: (ref, where, data) => write(() => inner.updateMany(ref, where, data)).finally(() => owners.forget()),
    delete: (ref, where) => write(() => inner.delete(ref, where)).finally(() => owners.forget()),
    deleteMany: (ref, where) => write(() => inner.deleteMany(ref, where)).finally(() => owners.forget()),
    async links(...given) {
      await flush();
      return failure.note(inner.links(...given));
    },
    link: (...given) => write(() => inner.link(...given)),
    unlink: (...given) => write(() => inner.unlink(...given)),
    transaction: (work) => work(driver),
  });
  return {
    driver,
    owners,
    flush,
    get failure() {
      return failure.error;
    },
    get changes() {
      return changes;
    },
  };
}
