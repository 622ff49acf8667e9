import type { AnyEntity, ColumnDefinition, ResolvedRelation } from "../../entity/index.ts";
import { ALWAYS, type Condition, type FindPairs, isAlways, type Pair, type Row } from "../../gate/index.ts";
import { ConflictError } from "../../kernel/index.ts";
import { applyChanges, danglingReference, deletion } from "./changes.ts";
import { filterRows } from "./filter-rows.ts";
import { changedRow, newRow } from "./rows.ts";
import { linkKey, linkTableOf, type Store } from "./store.ts";

// Each function is one statement: it changes everything it should, or throws and changes nothing.

/** Adds rows. @throws ConflictError, ValidationFailedError, DatabaseError */
export function insert(store: Store, entity: AnyEntity, given: readonly Row[]): Row[] {
  const stored = store.table(entity).rows;
  const rows = new Map<string, Row>();
  for (const row of given.map((one) => newRow(entity, one))) {
    const id = row.id as string;
    if (stored.has(id) || rows.has(id)) throw new ConflictError(undefined, { fields: ["id"] });
    rows.set(id, row);
  }
  applyChanges(store, new Map([[entity, rows]]));
  return [...rows.values()];
}

/** Changes the rows that match and returns them. @throws ConflictError, ValidationFailedError, DatabaseError */
export function change(store: Store, entity: AnyEntity, condition: Condition, given: Row): Row[] {
  const rows = filterRows(store, entity, condition).map((row) => changedRow(entity, given, row));
  applyChanges(store, new Map([[entity, new Map(rows.map((row) => [row.id as string, row]))]]));
  return rows;
}

/** Deletes the rows that match, with what goes along; returns how many matched. @throws ReferencedError */
export function remove(store: Store, entity: AnyEntity, condition: Condition): number {
  const ids = filterRows(store, entity, condition).map((row) => row.id as string);
  applyChanges(store, deletion(store, entity, ids));
  return ids.length;
}

function turnedPair({ source, target }: Pair): Pair {
  return { source: target, target: source };
}

/** Pairs of a relation as its own side sees them, ordered, up to a limit; the other ends satisfy a condition. */
export function linksOf(
  store: Store,
  relation: ResolvedRelation,
  { ids, where = ALWAYS, limit }: Pick<FindPairs, "ids" | "limit"> & Partial<Pick<FindPairs, "where">>,
): Pair[] {
  const { name, turned } = linkTableOf(relation);
  const wanted = new Set(ids);
  const targets = isAlways(where) ? undefined : new Set(filterRows(store, relation.target, where).map((row) => row.id));
  const { compare } = (relation.source.columns.id as ColumnDefinition).kind;
  return [...store.links(name).pairs.values()]
    .map((pair) => (turned ? turnedPair(pair) : { ...pair }))
    .filter(({ source, target }) => wanted.has(source) && targets?.has(target) !== false)
    .sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target))
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
  for (const target of targets) {
    const pair = turned ? { source: target, target: id } : { source: id, target };
    pairs.set(linkKey(pair), pair);
  }
}

/** Removes pairs. */
export function unlink(store: Store, relation: ResolvedRelation, id: string, targets: readonly string[]): undefined {
  const { name, turned } = linkTableOf(relation);
  const { pairs } = store.writableLinks(name);
  for (const target of targets) pairs.delete(linkKey(turned ? { source: target, target: id } : { source: id, target }));
}
