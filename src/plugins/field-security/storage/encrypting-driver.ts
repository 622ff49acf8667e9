import type { AnyEntity } from "../../../entity/index.ts";
import {
  allOf,
  BadRequestError,
  ConflictError,
  compileWhere,
  DatabaseError,
  type Driver,
  type EntityRef,
  entityName,
  type FindManyQuery,
  type FindOptions,
  isAlways,
  type Row,
  soleId,
  type Where,
  withAbilitiesOf,
} from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import { encrypt } from "../encryption/cipher.ts";
import { kProtected, type ProtectedDriver } from "../encryption/protected-driver.ts";
import type { EncryptedColumn, EncryptionPlan } from "./encryption-plan.ts";
import { openRows } from "./open-rows.ts";
import { storedWhere } from "./stored-where.ts";
import { suits } from "./suits.ts";

/** Relations to read along, and how their records are opened. */
interface Joining {
  readonly stored: FindManyQuery["join"];
  open(rows: Row[]): Row[];
}

const NOT_JOINING: Joining = { stored: undefined, open: (rows) => rows };

const isRow = (row: Row | null): row is Row => row !== null;

/**
 * A driver that stores encrypted fields as ciphertext and returns them in clear, whatever asks it: the statements of
 * operations, handlers, rules, workflow steps (spec 2.4 rule 7). Entities without such fields pass through.
 */
export function encryptingDriver(inner: Driver, plan: EncryptionPlan): Driver {
  const isPlain = (ref: EntityRef): boolean => plan.columnsOf(ref) === undefined;

  /** What is read, and how it is opened: what was fetched for that only is taken out again. */
  function reading<T extends FindManyQuery>(ref: EntityRef, query: T): { stored: T; open(rows: Row[]): Row[] } {
    const searched = new Set<string>();
    const where = storedWhere(plan, ref, query.where, searched);
    const { select, extra } = withCompanions(plan.columnsOf(ref), query.select, searched);
    return {
      stored: { ...query, where, select },
      open(rows) {
        openRows(plan, ref, rows, searched);
        for (const row of rows) for (const name of extra) delete row[name];
        return rows;
      },
    };
  }

  /** The same for the records of relations that are read along. */
  function joining(ref: EntityRef, join: FindManyQuery["join"]): Joining {
    if (join === undefined || join.length === 0) return NOT_JOINING;
    const source = plan.model.get(entityName(ref)) as AnyEntity;
    const joins = join.map(({ relation, where }) => {
      const target = plan.model.relation(source, relation)?.target as AnyEntity;
      const searched = new Set<string>();
      return { relation, target, searched, where: storedWhere(plan, target, where, searched) };
    });
    return {
      stored: joins.map(({ relation, where }) => ({ relation, where })),
      open(rows) {
        for (const { relation, target, searched } of joins) {
          const related = rows.map((row) => row[relation] as Row | null).filter(isRow);
          if (!isPlain(target)) openRows(plan, target, related, searched);
        }
        return rows;
      },
    };
  }

  async function findOne(ref: EntityRef, where: Where, options: FindOptions = {}): Promise<Row | null> {
    if (isPlain(ref)) return inner.findOne(ref, storedWhere(plan, ref, where), options);
    const { stored, open } = reading(ref, { where, select: options.select });
    const row = await inner.findOne(ref, stored.where, { select: stored.select });
    return row && (open([row])[0] as Row);
  }

  function opened(ref: EntityRef, row: Row): Row {
    openRows(plan, ref, [row]);
    return row;
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

  const encrypting = Object.freeze<ProtectedDriver>({
    [kProtected]: true,
    name: inner.name,
    capabilities: inner.capabilities,
    ...(inner.schema === undefined ? {} : { schema: inner.schema }),
    connect: (context) => inner.connect(context),
    disconnect: () => inner.disconnect(),
    ping: () => inner.ping(),
    findOne,
    async findMany(ref, query = {}) {
      const joined = joining(ref, query.join);
      if (isPlain(ref)) {
        const where = storedWhere(plan, ref, query.where);
        return joined.open(await inner.findMany(ref, { ...query, where, join: joined.stored }));
      }
      const { stored, open } = reading(ref, query);
      return joined.open(open(await inner.findMany(ref, { ...stored, join: joined.stored })));
    },
    async *stream(ref, query = {}, batchSize) {
      const { stored, open } = reading(ref, query);
      for await (const rows of inner.stream(ref, stored, batchSize)) yield open(rows);
    },
    count: async (ref, where) => inner.count(ref, storedWhere(plan, ref, where)),
    async create(ref, data, { where } = {}) {
      const options = where && { where: storedWhere(plan, ref, where) };
      if (isPlain(ref)) return inner.create(ref, data, options);
      const stored = storedRow(plan, ref, data, data.id as string);
      return opened(ref, await named(ref, () => inner.create(ref, stored, options)));
    },
    async createMany(ref, rows) {
      if (isPlain(ref)) return inner.createMany(ref, rows);
      const stored = rows.map((row) => storedRow(plan, ref, row, row.id as string));
      return named(ref, () => inner.createMany(ref, stored));
    },
    async update(ref, where, data) {
      const stored = storedWhere(plan, ref, where);
      if (isPlain(ref)) return inner.update(ref, stored, data);
      const own = touches(ref, data) ? storedRow(plan, ref, data, idIn(plan, ref, stored)) : data;
      const row = await named(ref, () => inner.update(ref, stored, own));
      return row && opened(ref, row);
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
  return withAbilitiesOf(inner, encrypting);
}

/** The id that a where of one record names. */
function idIn(plan: EncryptionPlan, ref: EntityRef, where: Where): string {
  const id = soleId(compileWhere(plan.model, plan.model.get(entityName(ref)) as AnyEntity, where));
  if (id === undefined) throw new BadRequestError("Changing an encrypted field of one record takes its id");
  return id;
}

/** Columns to fetch, and those of them that nobody asked for. */
interface Fetched {
  readonly select: readonly string[] | undefined;
  readonly extra: readonly string[];
}

/**
 * Selected columns with those that it takes to open them: the id, which values may be bound to, and the blind index of a
 * value. A value that the rows were found by is opened in any case.
 */
function withCompanions(
  columns: readonly EncryptedColumn[] = [],
  select: readonly string[] | undefined,
  searched: ReadonlySet<string>,
): Fetched {
  if (select === undefined || columns.length === 0) return { select, extra: [] };
  const all = new Set([...select, "id"]);
  for (const { name, index } of columns)
    if (index !== undefined && (all.has(name) || searched.has(name))) all.add(name).add(index);
  return { select: [...all], extra: [...all].filter((name) => !select.includes(name)) };
}

/**
 * A row as it is stored: encrypted fields as ciphertext of this record, with their blind indexes.
 * @param id of the record, which keys that bind need
 * @throws DatabaseError for values of another type than their field, as of any column
 */
function storedRow(plan: EncryptionPlan, ref: EntityRef, row: Row, id: string): Row {
  const columns = plan.columnsOf(ref);
  if (columns === undefined) return row;
  const entity = entityName(ref);
  const stored = { ...row };
  for (const column of columns) {
    const { name, index } = column;
    const value = row[name];
    if (value === undefined) continue;
    if (value !== null && !suits(column, value)) throw new DatabaseError(`${entity}.${name} cannot hold this value`);
    stored[name] = value === null ? null : encrypt(plan.ring, value, { entity, field: name, id });
    if (index !== undefined)
      stored[index] = value === null ? null : blindIndex(plan.ring, { entity, field: name }, value as string);
  }
  return stored;
}
