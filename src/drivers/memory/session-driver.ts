import { type AnyEntity, type ResolvedRelation, resolveEntity } from "../../entity/index.ts";
import {
  BadRequestError,
  type Condition,
  compileWhere,
  type Driver,
  EntityNotFoundError,
  type EntityRef,
  type FindManyQuery,
  isAlways,
  NotStoredError,
  type Row,
  rowBytes,
  soleId,
  streamByKeyset,
  type Where,
  withCreateConditions,
} from "../../kernel/index.ts";
import { copyRow, takeIn } from "./rows.ts";
import { filterRows, holdsForNew, selectedColumns, sortRows } from "./select-rows.ts";
import { change, insert, link, linksOf, remove, unlink } from "./statements.ts";
import type { Store } from "./store.ts";

/** Where statements go: the shared state, or a transaction's. */
export interface Session {
  /** @throws when it may not be used now */
  store(): Store;
  /** Runs a statement that changes something. */
  write<T>(statement: (store: Store) => T): Promise<T>;
}

function one(entity: AnyEntity, condition: Condition): Condition {
  if (soleId(condition) === undefined)
    throw new BadRequestError(`where on ${entity.name}: changing one record takes its id`);
  return condition;
}

function some(entity: AnyEntity, condition: Condition): Condition {
  if (isAlways(condition))
    throw new BadRequestError(`where on ${entity.name}: changing several records takes a condition`);
  return condition;
}

/**
 * The port over a session. Conditions are compiled and data is copied when a method is called, so that nobody changes
 * them while the statement waits for its turn; rows are copied on their way out.
 */
export function sessionDriver(session: Session, rest: Pick<Driver, "connect" | "disconnect" | "transaction">): Driver {
  function entityOf(ref: EntityRef): AnyEntity {
    const name = typeof ref === "string" ? ref : (resolveEntity(ref) as AnyEntity).name;
    const entity = session.store().model.get(name);
    if (entity === undefined) throw new EntityNotFoundError(`There is no entity "${name}"`);
    return entity;
  }
  function relationOf(ref: EntityRef, name: string): ResolvedRelation {
    const entity = entityOf(ref);
    const relation = session.store().model.relation(entity, name);
    if (relation?.type !== "manyToMany") throw new BadRequestError(`${entity.name}.${name} is no manyToMany relation`);
    return relation;
  }
  function compile(entity: AnyEntity, where: Where | undefined): Condition {
    return compileWhere(session.store().model, entity, where);
  }
  function find(ref: EntityRef, { where, sort, limit, offset = 0, select, bytes }: FindManyQuery): Row[] {
    const entity = entityOf(ref);
    const columns = selectedColumns(entity, select);
    const rows = sortRows(entity, filterRows(session.store(), entity, compile(entity, where)), sort);
    const page = rows.slice(offset, limit === undefined ? undefined : offset + limit);
    const fitting = bytes === undefined ? page.length : bytes.take(page.map(rowBytes));
    return page.slice(0, fitting).map((row) => copyRow(row, columns));
  }
  function copyOf(entity: AnyEntity, row: Row | undefined): Row | null {
    return row === undefined ? null : copyRow(row, Object.keys(entity.columns));
  }

  const driver: Driver = {
    name: "memory",
    capabilities: Object.freeze({ concurrentTransactions: false, durable: false }),
    ...rest,
    async ping() {
      session.store();
    },
    async findOne(ref, where, options) {
      return find(ref, { ...options, where, limit: 1 })[0] ?? null;
    },
    async findMany(ref, query = {}) {
      return find(ref, query);
    },
    async count(ref, where) {
      const entity = entityOf(ref);
      return filterRows(session.store(), entity, compile(entity, where)).length;
    },
    async create(ref, data, { where } = {}) {
      const entity = entityOf(ref);
      const given = takeIn(entity, data);
      const condition = where && compile(entity, where);
      return session.write((store) => {
        if (condition !== undefined && !holdsForNew(store, condition, given)) throw new NotStoredError();
        return copyOf(entity, insert(store, entity, [given])[0]) as Row;
      });
    },
    async createMany(ref, rows) {
      const entity = entityOf(ref);
      const given = rows.map((row) => takeIn(entity, row));
      return session.write((store) => insert(store, entity, given).length);
    },
    async update(ref, where, data) {
      const entity = entityOf(ref);
      const condition = one(entity, compile(entity, where));
      const given = takeIn(entity, data);
      return session.write((store) => copyOf(entity, change(store, entity, condition, given)[0]));
    },
    async updateMany(ref, where, data) {
      const entity = entityOf(ref);
      const condition = some(entity, compile(entity, where));
      const given = takeIn(entity, data);
      return session.write((store) => change(store, entity, condition, given).length);
    },
    async delete(ref, where) {
      const entity = entityOf(ref);
      const condition = one(entity, compile(entity, where));
      return session.write((store) => remove(store, entity, condition) > 0);
    },
    async deleteMany(ref, where) {
      const entity = entityOf(ref);
      const condition = some(entity, compile(entity, where));
      return session.write((store) => remove(store, entity, condition));
    },
    async *stream(ref, query, batchSize) {
      yield* streamByKeyset(driver, entityOf(ref), query, batchSize);
    },
    async links(ref, relation, ids, { where, limit } = {}) {
      const resolved = relationOf(ref, relation);
      return linksOf(session.store(), resolved, ids, compile(resolved.target, where), limit);
    },
    async link(ref, relation, id, targets) {
      const resolved = relationOf(ref, relation);
      await session.write((store) => link(store, resolved, id, [...targets]));
    },
    async unlink(ref, relation, id, targets) {
      const resolved = relationOf(ref, relation);
      await session.write((store) => unlink(store, resolved, id, [...targets]));
    },
  };
  return withCreateConditions(Object.freeze(driver));
}
