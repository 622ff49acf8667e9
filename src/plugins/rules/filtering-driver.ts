import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  allOf,
  ConflictError,
  type Driver,
  EntityNotFoundError,
  type EntityRef,
  entityName,
  type FindOptions,
  type Observation,
  observe,
  overlayDriver,
  type Row,
  type Where,
} from "../../kernel/index.ts";
import type { FieldFilterOptions } from "./field-filter.ts";
import { filterReadableFields } from "./filter-readable-fields.ts";
import { filterWritableFields } from "./filter-writable-fields.ts";

/** A record that changes under the eyes of a rule again and again is given up on. */
const ATTEMPTS = 3;
/** What whoever stores a row fills in, and no rule speaks of. */
const OWN_ROLES: ReadonlySet<string> = new Set(["id", "createdAt", "updatedAt", "version"]);

/**
 * Changes a record while it still is what a rule has seen of it. What no condition can compare, such as encrypted values,
 * is compared once the record is locked: an update with nothing but its id does that.
 */
async function updateSeen(
  driver: Driver,
  entity: AnyEntity,
  where: Where,
  seen: Observation,
  changes: Row,
): Promise<Row | null> {
  const unchanged = allOf(where, seen.conditions());
  const isSame = seen.comparison();
  if (isSame === undefined) return driver.update(entity, unchanged, changes);
  return driver.transaction(async (inner) => {
    const row = await inner.update(entity, unchanged, { id: seen.record.id });
    return row !== null && isSame(row) ? inner.update(entity, unchanged, changes) : null;
  });
}

/**
 * A driver on behalf of a caller: it returns what `filterReadableFields` leaves of records and stores what
 * `filterWritableFields` leaves of data, on update decided on the stored record, which the statement then requires to be
 * unchanged. In `updateMany` no record is looked at, so fields whose rules look at it are dropped. Which records there
 * are, conditions and orders are not restricted.
 */
export function filteringDriver(inner: Driver, model: EntityModel, caller: FieldFilterOptions): Driver {
  function entityOf(ref: EntityRef): AnyEntity {
    const entity = model.get(entityName(ref));
    if (entity === undefined) throw new EntityNotFoundError(`There is no entity "${entityName(ref)}"`);
    return entity;
  }

  /** Rules may look at columns that were not asked for. */
  function whole<T extends FindOptions>(entity: AnyEntity, options: T): T {
    const isRuled = options.select?.some((name) => entity.columns[name]?.field?.readable !== undefined);
    return isRuled ? { ...options, select: undefined } : options;
  }

  function shown(entity: AnyEntity, rows: Row[], { select }: FindOptions = {}): Row[] {
    const records = filterReadableFields(rows, entity, caller) as Row[];
    if (select === undefined) return records;
    for (const record of records)
      for (const name of Object.keys(record)) if (!select.includes(name)) delete record[name];
    return records;
  }

  function shownOne(entity: AnyEntity, row: Row | null, options?: FindOptions): Row | null {
    return row && (shown(entity, [row], options)[0] as Row);
  }

  function written(entity: AnyEntity, data: Row, operation: "create" | "update", existing?: Row): Row {
    const entries = Object.entries(data);
    // Without its tag: the rules of where it is stored count, not of where it was read.
    const plain = Object.fromEntries(entries);
    const own = entries.filter(([name]) => OWN_ROLES.has(entity.columns[name]?.role ?? ""));
    return { ...Object.fromEntries(own), ...filterWritableFields(plain, entity, { ...caller, operation, existing }) };
  }

  async function update(...[ref, where, data]: Parameters<Driver["update"]>): Promise<Row | null> {
    const entity = entityOf(ref);
    const isRuled = Object.keys(data).some((name) => entity.columns[name]?.field?.writable !== undefined);
    if (!isRuled) return shownOne(entity, await inner.update(entity, where, written(entity, data, "update")));
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const existing = await inner.findOne(entity, where);
      if (existing === null) return null;
      const seen = observe(entity, existing);
      const changes = written(entity, data, "update", seen.record);
      const row = await updateSeen(inner, entity, where, seen, changes);
      if (row !== null) return shownOne(entity, row);
    }
    throw new ConflictError("The record is being changed by others; try again");
  }

  return overlayDriver(inner, {
    async findOne(ref, where, options = {}) {
      const entity = entityOf(ref);
      return shownOne(entity, await inner.findOne(entity, where, whole(entity, options)), options);
    },
    async findMany(ref, query = {}) {
      const entity = entityOf(ref);
      return shown(entity, await inner.findMany(entity, whole(entity, query)), query);
    },
    async *stream(ref, query = {}, batchSize) {
      const entity = entityOf(ref);
      for await (const rows of inner.stream(entity, whole(entity, query), batchSize)) yield shown(entity, rows, query);
    },
    async create(ref, data, options) {
      const entity = entityOf(ref);
      return shown(entity, [await inner.create(entity, written(entity, data, "create"), options)])[0] as Row;
    },
    async createMany(ref, rows) {
      const entity = entityOf(ref);
      return inner.createMany(
        entity,
        rows.map((row) => written(entity, row, "create")),
      );
    },
    update,
    async updateMany(ref, where, data) {
      const entity = entityOf(ref);
      return inner.updateMany(entity, where, written(entity, data, "update"));
    },
    transaction: (work, options) =>
      inner.transaction((driver) => work(filteringDriver(driver, model, caller)), options),
  });
}
