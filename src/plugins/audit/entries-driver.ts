import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  AuthorizationError,
  type Driver,
  type EntityRef,
  entityName,
  type FindOptions,
  overlayDriver,
  type Row,
  tagRecord,
  withAbilitiesOf,
} from "../../kernel/index.ts";
import { ENTRY } from "./audit-entry.ts";

/** Entries that wait to be stored together. */
const MOST_WAITING = 500;

/**
 * A driver whose entries only grow, and show of old values what the reader may see of the field: values are tagged as
 * records of their entity, so that its mask applies wherever they get to. Entries of a transaction are stored together,
 * before it commits.
 */
export function entriesDriver(inner: Driver, model: EntityModel): Driver {
  const layer = overlayDriver(inner, {
    ...entriesAsRead(inner, model, async () => {}),
    transaction: (work, options) =>
      inner.transaction(async (driver) => {
        const { collecting, flush } = collectEntries(driver, model);
        const result = await work(collecting);
        await flush();
        return result;
      }, options),
  });
  return withAbilitiesOf(inner, layer); // no relation leads to an entry
}

function collectEntries(inner: Driver, model: EntityModel): { collecting: Driver; flush(): Promise<void> } {
  let waiting: Row[] = [];
  async function flush(): Promise<void> {
    const rows = waiting;
    waiting = [];
    if (rows.length === 1) await inner.create(ENTRY, rows[0] as Row);
    else if (rows.length > 1) await inner.createMany(ENTRY, rows);
  }
  async function keep(rows: readonly Row[]): Promise<void> {
    waiting.push(...rows);
    if (waiting.length >= MOST_WAITING) await flush();
  }
  const collecting: Driver = overlayDriver(inner, {
    ...entriesAsRead(inner, model, flush),
    async create(ref, data, options) {
      if (!isEntry(ref)) return inner.create(ref, data, options);
      await keep([data]);
      return { ...data };
    },
    async createMany(ref, rows) {
      if (!isEntry(ref)) return inner.createMany(ref, rows);
      await keep(rows);
      return rows.length;
    },
    transaction: (work) => work(collecting), // joins, as everywhere
  });
  return { collecting: withAbilitiesOf(inner, collecting), flush };
}

const isEntry = (ref: EntityRef): boolean => entityName(ref) === ENTRY;

/** @throws AuthorizationError for entries, for every caller */
async function unlessEntry<T>(ref: EntityRef, write: () => Promise<T>): Promise<T> {
  if (isEntry(ref)) throw new AuthorizationError("Entries of the audit log are not changed, and not deleted");
  return write();
}

/** Values mean nothing without the entity that they are of. */
function withEntity<T extends FindOptions>(query: T): T {
  const { select } = query;
  const isEnough = select === undefined || !select.some((name) => name === "before" || name === "after");
  return isEnough ? query : { ...query, select: [...new Set([...select, "entity"])] };
}

/** @param settle stores what waits, before entries are read */
function entriesAsRead(inner: Driver, model: EntityModel, settle: () => Promise<void>): Partial<Driver> {
  const open = (rows: Row[]): Row[] => {
    for (const row of rows) openEntry(model, row);
    return rows;
  };
  return {
    async findOne(ref, where, options = {}) {
      if (!isEntry(ref)) return inner.findOne(ref, where, options);
      await settle();
      const row = await inner.findOne(ref, where, withEntity(options));
      return row && (open([row])[0] as Row);
    },
    async findMany(ref, query = {}) {
      if (!isEntry(ref)) return inner.findMany(ref, query);
      await settle();
      return open(await inner.findMany(ref, withEntity(query)));
    },
    async count(ref, where) {
      if (isEntry(ref)) await settle();
      return inner.count(ref, where);
    },
    async *stream(ref, query = {}, batchSize) {
      if (!isEntry(ref)) return yield* inner.stream(ref, query, batchSize);
      await settle();
      for await (const rows of inner.stream(ref, withEntity(query), batchSize)) yield open(rows);
    },
    update: (ref, where, data) => unlessEntry(ref, () => inner.update(ref, where, data)),
    updateMany: (ref, where, data) => unlessEntry(ref, () => inner.updateMany(ref, where, data)),
    delete: (ref, where) => unlessEntry(ref, () => inner.delete(ref, where)),
    deleteMany: (ref, where) => unlessEntry(ref, () => inner.deleteMany(ref, where)),
  };
}

function openEntry(model: EntityModel, row: Row): void {
  const entity = typeof row.entity === "string" ? model.get(row.entity) : undefined;
  for (const side of ["before", "after"]) {
    const values = row[side];
    if (values === undefined || values === null) continue;
    // Without a known entity there are no field rules to decide who may see the values.
    row[side] = entity === undefined ? null : tagRecord(entity, typed(entity, values as Row));
  }
}

/** Values as their columns hold them; those of columns that are gone do not show. */
function typed({ columns, relations }: AnyEntity, values: Row): Row {
  const row: Row = {};
  for (const [name, value] of Object.entries(values)) {
    const kind = columns[name]?.kind;
    if (kind === undefined && !Object.hasOwn(relations, name)) continue;
    if (kind?.toWire === undefined || typeof value !== "string") row[name] = value;
    else {
      const read = kind.parse(value);
      row[name] = read.ok ? read.value : null;
    }
  }
  return row;
}
