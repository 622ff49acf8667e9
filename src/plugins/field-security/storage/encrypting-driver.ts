import type { AnyEntity } from "../../../entity/index.ts";
import {
  allOf,
  BadRequestError,
  ConflictError,
  compileWhere,
  type Driver,
  type EntityRef,
  entityName,
  type FindOptions,
  isAlways,
  type Row,
  type Where,
} from "../../../kernel/index.ts";
import type { EncryptionPlan } from "./encryption-plan.ts";
import { openRow, storedRow } from "./stored-row.ts";
import { storedWhere } from "./stored-where.ts";

/**
 * A driver that stores encrypted fields as ciphertext and returns them in clear, whatever asks it: the statements of
 * operations, handlers, rules, workflow steps (spec 2.4 rule 7). Entities without such fields pass through.
 */
export function encryptingDriver(inner: Driver, plan: EncryptionPlan): Driver {
  const isPlain = (ref: EntityRef): boolean => plan.columnsOf(ref) === undefined;

  async function findOne(ref: EntityRef, where: Where, options?: FindOptions): Promise<Row | null> {
    const stored = storedWhere(plan, ref, where);
    if (isPlain(ref)) return inner.findOne(ref, stored, options);
    const row = await inner.findOne(ref, stored, withId(options));
    if (row !== null) open(ref, [row], options);
    return row;
  }

  /** Rows in clear; the id, where it was fetched for that only, is taken out again. */
  function open(ref: EntityRef, rows: Row[], { select }: FindOptions = {}): Row[] {
    const isExtra = select?.includes("id") === false;
    for (const row of rows) {
      openRow(plan, ref, row);
      if (isExtra) delete row.id;
    }
    return rows;
  }

  const touches = (ref: EntityRef, data: Row): boolean =>
    plan.columnsOf(ref)?.some(({ name }) => data[name] !== undefined) === true;

  /** Conflicts are about fields: nobody has heard of a blind index. */
  async function named<T>(ref: EntityRef, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const fields = error.fields.map((name) => plan.columnsOf(ref)?.find(({ index }) => index === name)?.name ?? name);
      throw new ConflictError(error.message, { fields, code: error.code, cause: error });
    }
  }

  /** One by one in a transaction: every record has a ciphertext of its own. */
  async function updateEach(ref: EntityRef, where: Where, data: Row): Promise<number> {
    const entity = plan.model.get(entityName(ref)) as AnyEntity;
    if (isAlways(compileWhere(plan.model, entity, where)))
      throw new BadRequestError(`where on ${entity.name}: changing several records takes a condition`);
    return inner.transaction(async (driver) => {
      let count = 0;
      for (const { id } of await driver.findMany(ref, { where, select: ["id"] })) {
        const own = storedRow(plan, ref, data, id as string);
        if ((await driver.update(ref, allOf({ id }, where), own)) !== null) count++;
      }
      return count;
    });
  }

  return Object.freeze<Driver>({
    name: inner.name,
    capabilities: inner.capabilities,
    ...(inner.schema === undefined ? {} : { schema: inner.schema }),
    connect: (context) => inner.connect(context),
    disconnect: () => inner.disconnect(),
    ping: () => inner.ping(),
    findOne,
    async findMany(ref, query = {}) {
      const stored = { ...query, where: storedWhere(plan, ref, query.where) };
      if (isPlain(ref)) return inner.findMany(ref, stored);
      return open(ref, await inner.findMany(ref, withId(stored)), query);
    },
    async *stream(ref, query = {}, batchSize) {
      const stored = { ...query, where: storedWhere(plan, ref, query.where) };
      if (isPlain(ref)) yield* inner.stream(ref, stored, batchSize);
      else for await (const rows of inner.stream(ref, withId(stored), batchSize)) yield open(ref, rows, query);
    },
    count: async (ref, where) => inner.count(ref, storedWhere(plan, ref, where)),
    async create(ref, data) {
      if (isPlain(ref)) return inner.create(ref, data);
      const stored = storedRow(plan, ref, data, data.id as string);
      return openRow(plan, ref, await named(ref, () => inner.create(ref, stored)));
    },
    async createMany(ref, rows) {
      if (isPlain(ref)) return inner.createMany(ref, rows);
      const stored = rows.map((row) => storedRow(plan, ref, row, row.id as string));
      return named(ref, () => inner.createMany(ref, stored));
    },
    async update(ref, where, data) {
      const stored = storedWhere(plan, ref, where);
      if (isPlain(ref)) return inner.update(ref, stored, data);
      const own = touches(ref, data) ? storedRow(plan, ref, data, idIn(where)) : data;
      const row = await named(ref, () => inner.update(ref, stored, own));
      return row && openRow(plan, ref, row);
    },
    async updateMany(ref, where, data) {
      const stored = storedWhere(plan, ref, where);
      return touches(ref, data) ? named(ref, () => updateEach(ref, stored, data)) : inner.updateMany(ref, stored, data);
    },
    delete: async (ref, where) => inner.delete(ref, storedWhere(plan, ref, where)),
    deleteMany: async (ref, where) => inner.deleteMany(ref, storedWhere(plan, ref, where)),
    links: (...given) => inner.links(...given),
    link: (...given) => inner.link(...given),
    unlink: (...given) => inner.unlink(...given),
    transaction: (work, options) => inner.transaction((driver) => work(encryptingDriver(driver, plan)), options),
  });
}

/** The id is part of what a value may be bound to. */
function withId<T extends FindOptions>(options: T): T;
function withId<T extends FindOptions>(options: T | undefined): T | undefined;
function withId<T extends FindOptions>(options: T | undefined): T | undefined {
  if (options?.select === undefined || options.select.includes("id")) return options;
  return { ...options, select: [...options.select, "id"] };
}

/** The id that a where of one record names, at the top or inside `AND`. */
function idIn(where: Where): string {
  const id = findId(where);
  if (id === undefined) throw new BadRequestError("Changing an encrypted field of one record takes its id");
  return id;
}

function findId({ id, AND }: Where): string | undefined {
  if (typeof id === "string") return id;
  for (const part of Array.isArray(AND) ? AND : []) {
    const found = findId(part as Where);
    if (found !== undefined) return found;
  }
  return undefined;
}
