import { randomUUID } from "node:crypto";
import type { AnyEntity, ColumnDefinition, ResolvedRelation } from "../../entity/index.ts";
import {
  ALWAYS,
  type Condition,
  countedBytes,
  type Execute,
  type Find,
  type FindPairs,
  Fold,
  idOfParts,
  isAlways,
  matches,
  type Pair,
  type Ranked,
  type ResultOf,
  type Row,
  type Statement,
} from "../../gate/index.ts";
import { ConflictError, EntityNotFoundError } from "../../kernel/index.ts";
import { applyChanges, danglingReference, deletion } from "./changes.ts";
import { changedRow, copyRow, filterRows, holdsForNew, newRow, selectedColumns, sortRows, takeIn } from "./rows.ts";
import { linkKey, linkTableOf, type Store } from "./store.ts";

/** The target of statements: the shared state, or that of a transaction. */
export interface Session {
  /** @throws when the session cannot be used */
  store(): Store;
  /** Runs a statement that changes data. */
  write<T>(statement: (store: Store) => T): Promise<T>;
}

/**
 * Runs statements of a session. The data of a statement is copied when it is submitted, so that later changes to it
 * have no effect while the statement waits for its turn; returned rows are copies, too.
 */
export function executeIn(session: Session): Execute {
  return ((statement) => run(session, statement)) as Execute;
}

async function run(session: Session, statement: Statement): Promise<ResultOf<Statement>> {
  const current = session.store();
  switch (statement.kind) {
    case "find":
      return find(current, statement);
    case "count":
      return filterRows(current, ownEntity(current, statement.entity), statement.where).length;
    case "aggregate": {
      const fold = new Fold(statement);
      for (const row of filterRows(current, ownEntity(current, statement.entity), statement.where)) fold.record(row);
      return fold.rows();
    }
    case "insert": {
      const { where, returning } = statement;
      const entity = ownEntity(current, statement.entity);
      const given = statement.rows.map((row) => takeIn(entity, row));
      return session.write((store) => {
        if (where !== undefined && !given.every((row) => holdsForNew(store, where, row))) return NOTHING;
        return written(entity, insert(store, entity, given), returning);
      });
    }
    case "update": {
      const { where, returning } = statement;
      const entity = ownEntity(current, statement.entity);
      const given = takeIn(entity, statement.data);
      return session.write((store) => written(entity, change(store, entity, where, given), returning));
    }
    case "delete": {
      const { where } = statement;
      const entity = ownEntity(current, statement.entity);
      return session.write((store) => ({ count: remove(store, entity, where), rows: [] }));
    }
    case "pairs":
      return linksOf(current, ownRelation(current, statement.relation), statement);
    default: {
      const { kind, id } = statement;
      const relation = ownRelation(current, statement.relation);
      const targets = [...statement.targets];
      return session.write((store) =>
        kind === "link" ? link(store, relation, id, targets) : unlink(store, relation, id, targets),
      );
    }
  }
}

const NOTHING = Object.freeze({ count: 0, rows: [] });

/** The store's own definition of an entity: statements may contain another definition with the same name. */
function ownEntity({ model }: Store, { name }: AnyEntity): AnyEntity {
  const entity = model.get(name);
  if (entity === undefined) throw new EntityNotFoundError(`There is no entity "${name}"`);
  return entity;
}

function ownRelation(store: Store, { source, name }: ResolvedRelation): ResolvedRelation {
  return store.model.relation(ownEntity(store, source), name) as ResolvedRelation;
}

function find(store: Store, statement: Find): Row[] {
  const { entity: given, where, select, sort, rank, limit, offset = 0, perParent, bytes, counted } = statement;
  const entity = ownEntity(store, given);
  const columns = selectedColumns(entity, select);
  const rows = sortRows(store, entity, filterRows(store, entity, where), sort, rank && ranksOf(rank));
  const kept = perParent === undefined ? rows : firstOfEach(rows, perParent);
  const page = kept.slice(offset, limit === undefined ? undefined : offset + limit);
  const read = select === undefined ? counted : new Set(columns.filter((name) => counted?.has(name) !== false));
  const fitting = bytes === undefined ? page.length : bytes.take(page.map((row) => countedBytes(row, read)));
  return page.slice(0, fitting).map((row) => copyRow(row, columns));
}

/** Returns a function that adds up the weights of the conditions that a row meets. */
function ranksOf(rank: readonly Ranked[]): (row: Row) => number {
  const known = new Map<Row, number>();
  return (row) => {
    const sum =
      known.get(row) ?? rank.reduce((so, { where, weight }) => so + (matches(where, row, () => []) ? weight : 0), 0);
    known.set(row, sum);
    return sum;
  };
}

/** Keeps the first rows for each value of a column. */
function firstOfEach(rows: readonly Row[], { column, limit }: NonNullable<Find["perParent"]>): Row[] {
  const counts = new Map<unknown, number>();
  return rows.filter((row) => {
    const count = (counts.get(row[column]) ?? 0) + 1;
    counts.set(row[column], count);
    return count <= limit;
  });
}

function written(entity: AnyEntity, rows: readonly Row[], returning = false): { count: number; rows: Row[] } {
  const columns = returning ? Object.keys(entity.columns) : [];
  return { count: rows.length, rows: returning ? rows.map((row) => copyRow(row, columns)) : [] };
}

// Each function is one statement: it makes all its changes, or throws and makes none.

/** Adds rows. @throws ConflictError, ValidationFailedError, DatabaseError */
function insert(store: Store, entity: AnyEntity, given: readonly Row[]): Row[] {
  const stored = store.table(entity).rows;
  const rows = new Map<string, Row>();
  for (const one of given) {
    const row = newRow(entity, withId(entity, one, stored, rows));
    const id = row.id as string;
    if (stored.has(id) || rows.has(id)) throw new ConflictError(undefined, { fields: ["id"] });
    rows.set(id, row);
  }
  applyChanges(store, new Map([[entity, rows]]));
  return [...rows.values()];
}

/** Adds the id that databases would generate to a new row: the next number, or a UUID. */
function withId(entity: AnyEntity, given: Row, ...known: readonly ReadonlyMap<string, Row>[]): Row {
  if (entity.idsFrom === "parts") return { ...given, id: idOfParts(entity, given) };
  if (entity.idsFrom !== "database" || given.id !== undefined) return given;
  if (entity.columns.id?.kind.column.scalar === "Uuid") return { ...given, id: randomUUID() };
  let last = 0n;
  for (const rows of known) for (const id of rows.keys()) if (BigInt(id) > last) last = BigInt(id);
  return { ...given, id: String(last + 1n) };
}

/** Updates the matching rows and returns them. @throws ConflictError, ValidationFailedError, DatabaseError */
function change(store: Store, entity: AnyEntity, condition: Condition, given: Row): Row[] {
  const rows = filterRows(store, entity, condition).map((row) => changedRow(entity, given, row));
  applyChanges(store, new Map([[entity, new Map(rows.map((row) => [row.id as string, row]))]]));
  return rows;
}

/** Deletes the matching rows with their cascading effects; returns how many matched. @throws ReferencedError */
function remove(store: Store, entity: AnyEntity, condition: Condition): number {
  const ids = filterRows(store, entity, condition).map((row) => row.id as string);
  applyChanges(store, deletion(store, entity, ids));
  return ids.length;
}

/** Converts a pair between the order of its table and the order of one side. */
function turnedIf(turned: boolean, { source, target }: Pair): Pair {
  return turned ? { source: target, target: source } : { source, target };
}

/**
 * The pairs of a relation, seen from its own side, in order and up to a limit; the other ends must meet a condition.
 */
export function linksOf(
  store: Store,
  relation: ResolvedRelation,
  { ids, where = ALWAYS, limit }: Pick<FindPairs, "ids" | "limit"> & Partial<Pick<FindPairs, "where">>,
): Pair[] {
  const { name, turned } = linkTableOf(relation);
  const sources = new Set(ids);
  const targets = isAlways(where) ? undefined : new Set(filterRows(store, relation.target, where).map((row) => row.id));
  const [near, far] = [relation.source, relation.target].map(({ columns }) => (columns.id as ColumnDefinition).kind);
  return [...store.links(name).pairs.values()]
    .map((pair) => turnedIf(turned, pair))
    .filter(({ source, target }) => sources.has(source) && targets?.has(target) !== false)
    .sort((a, b) => near?.compare(a.source, b.source) || far?.compare(a.target, b.target) || 0)
    .slice(0, limit);
}

/** Adds pairs. @throws ValidationFailedError when one end does not exist */
export function link(store: Store, relation: ResolvedRelation, id: string, targets: readonly string[]): undefined {
  if (targets.length === 0) return;
  const known = store.table(relation.target).rows;
  if (!store.table(relation.source).rows.has(id) || !targets.every((target) => known.has(target)))
    throw danglingReference(`${relation.name}Ids`);
  const { name, turned } = linkTableOf(relation);
  const { pairs } = store.writableLinks(name);
  for (const pair of targets.map((target) => turnedIf(turned, { source: id, target }))) pairs.set(linkKey(pair), pair);
}

/** Removes pairs. */
function unlink(store: Store, relation: ResolvedRelation, id: string, targets: readonly string[]): undefined {
  const { name, turned } = linkTableOf(relation);
  const { pairs } = store.writableLinks(name);
  for (const target of targets) pairs.delete(linkKey(turnedIf(turned, { source: id, target })));
}
