import {
  type AnyEntity,
  type ColumnDefinition,
  ConfigurationError,
  type EntityModel,
  newDefault,
} from "../../entity/index.ts";
import { ConflictError } from "../errors/errors.ts";
import type { Clock, IdGenerator } from "../ports/clock.ts";
import type { Driver, EntityRef, Row, Where } from "../ports/driver.ts";
import { overlayDriver } from "../ports/overlay-driver.ts";
import { findEntity } from "./find-entity.ts";
import { tagRecord } from "./tag-record.ts";

/**
 * A driver as handlers, hooks and rules get it: what it returns is tagged, so that a record is masked on its way out
 * whoever read it. The gate's own statements run on the driver inside and pay nothing. It waits for no mask: the rules
 * that a mask waits for read with it, too.
 * @param sources of what is left out of new records and changes @default nothing is filled in
 */
export function taggingDriver(inner: Driver, model: EntityModel, sources?: RowSources): Driver {
  function tagAll(ref: EntityRef, rows: Row[]): Row[] {
    const entity = findEntity(model, ref);
    for (const row of rows) tagRecord(entity, row);
    return rows;
  }
  function tag<T extends Row | null>(ref: EntityRef, row: T): T {
    if (row !== null) tagRecord(findEntity(model, ref), row);
    return row;
  }
  const made = (ref: EntityRef, data: Row): Row =>
    sources === undefined ? data : newRow(findEntity(model, ref), data, sources);
  const changed = (ref: EntityRef, data: Row): Row =>
    sources === undefined ? data : changedRow(findEntity(model, ref), data, sources);
  /**
   * The condition of a change of one record. Code may describe it by any columns; the port wants its id.
   * @throws ConfigurationError for no conditions, ConflictError when several records meet them
   */
  async function aboutOne(ref: EntityRef, where: Where): Promise<Where | undefined> {
    if (namesId(where)) return where;
    const name = findEntity(model, ref).name;
    if (Object.keys(where ?? {}).length === 0)
      throw new ConfigurationError(`A change of one record of ${name} needs conditions that say which, such as { id }`);
    const found = await inner.findMany(ref, { where, select: ["id"], limit: 2 });
    if (found.length > 1)
      throw new ConflictError(`Several records of ${name} match; use updateMany or deleteMany to change all of them`);
    const id = found[0]?.id;
    return id === undefined ? undefined : { AND: [where, { id }] };
  }
  const tagging: Partial<Driver> = {
    findOne: async (ref, where, options) => tag(ref, await inner.findOne(ref, where, options)),
    // What is read along is the gate's to ask for: it knows who may see it.
    findMany: async (ref, query) => tagAll(ref, await inner.findMany(ref, { ...query, join: undefined })),
    create: async (ref, data, options) => tag(ref, await inner.create(ref, made(ref, data), options)),
    createMany: (ref, rows) =>
      inner.createMany(
        ref,
        rows.map((row) => made(ref, row)),
      ),
    async update(ref, where, data) {
      const one = await aboutOne(ref, where);
      return one === undefined ? null : tag(ref, await inner.update(ref, one, changed(ref, data)));
    },
    async delete(ref, where) {
      const one = await aboutOne(ref, where);
      return one !== undefined && inner.delete(ref, one);
    },
    updateMany: (ref, where, data) => inner.updateMany(ref, where, changed(ref, data)),
    async *stream(ref, query, batchSize) {
      for await (const rows of inner.stream(ref, query, batchSize)) yield tagAll(ref, rows);
    },
    transaction: (work, options) => inner.transaction((driver) => work(taggingDriver(driver, model, sources)), options),
  };
  return overlayDriver(inner, tagging);
}

function namesId(where: Where | undefined): boolean {
  if (typeof where?.id === "string") return true;
  const { AND: all } = where ?? {};
  return Array.isArray(all) && all.some((part) => namesId(part as Where));
}

/** Where ids and moments come from. */
interface RowSources {
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** A new record as it is stored: what nobody said is an id, a moment, the field's default, or null where that is allowed. */
function newRow(entity: AnyEntity, data: Row, sources: RowSources): Row {
  const row: Row = { ...data };
  const now = sources.clock.now();
  for (const column of Object.values(entity.columns)) {
    if (row[column.name] !== undefined) continue;
    const value = valueOfNew(column, now, sources);
    if (value !== undefined) row[column.name] = value;
  }
  return row;
}

function valueOfNew({ role, field, optional }: ColumnDefinition, now: Date, { ids }: RowSources): unknown {
  if (role === "id") return ids.next();
  if (role === "createdAt" || role === "updatedAt") return now;
  if (role === "blindIndex") return undefined; // made of the value it finds
  return (field && newDefault(field)) ?? (optional ? null : undefined);
}

/** Changes as they are stored: with the moment, unless nothing is changed but looked at and held. */
function changedRow(entity: AnyEntity, data: Row, { clock }: RowSources): Row {
  const isChange = Object.keys(data).some((name) => name !== "id");
  return entity.timestamps && isChange && data.updatedAt === undefined ? { ...data, updatedAt: clock.now() } : data;
}
