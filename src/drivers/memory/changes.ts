import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";
import { ConflictError, ReferencedError, ValidationFailedError } from "../../kernel/index.ts";
import { type Store, type Table, type UniqueIndex, uniqueKey } from "./store.ts";

/** The changes of one statement: rows to store, by entity and id; `null` deletes. */
export type Changes = Map<AnyEntity, Map<string, Row | null>>;

/**
 * Stores all changes or none: every constraint is checked before the first change.
 * @throws ConflictError naming the columns; ValidationFailedError naming the foreign key
 */
export function applyChanges(store: Store, changes: Changes): void {
  for (const [entity, rows] of changes) {
    for (const index of store.table(entity).uniques) checkUnique(index, rows);
    for (const row of rows.values()) if (row !== null) checkReferences(store, changes, entity, row);
  }
  for (const [entity, rows] of changes) {
    write(store.writableTable(entity), rows);
    dropLinks(store, entity, rows);
  }
}

/** The error for a reference to a record that does not exist. */
export function danglingReference(name: string): ValidationFailedError {
  return new ValidationFailedError({ [name]: "must refer to an existing record" });
}

/** Relations whose foreign keys a database checks. Targets of remote relations are outside the database. */
function constrained(store: Store, entity: AnyEntity): ResolvedRelation[] {
  return store.model.relationsOf(entity).filter(({ type, remote }) => type === "belongsTo" && remote === undefined);
}

/** A row after the changes; null or undefined when it is deleted or does not exist. */
function rowAfter(store: Store, changes: Changes, entity: AnyEntity, id: string): Row | null | undefined {
  const changed = changes.get(entity)?.get(id);
  return changed === undefined ? store.table(entity).rows.get(id) : changed;
}

function changesOf(changes: Changes, entity: AnyEntity): Map<string, Row | null> {
  const own = changes.get(entity) ?? new Map<string, Row | null>();
  changes.set(entity, own);
  return own;
}

/**
 * The changes for deleting rows, with their effects: rows deleted with them (cascade) and keys set to null (setNull).
 * @throws ReferencedError when a remaining row refers to a deleted one
 */
export function deletion(store: Store, entity: AnyEntity, ids: readonly string[]): Changes {
  const changes: Changes = new Map([[entity, new Map(ids.map((id) => [id, null]))]]);
  const restricted: [AnyEntity, string][] = [];
  const pending = [{ target: entity, gone: new Set(ids) }];
  for (let wave = pending.pop(); wave !== undefined; wave = pending.pop()) {
    for (const relation of store.model.entities.flatMap((source) => constrained(store, source))) {
      if (relation.target !== wave.target) continue;
      const { source, onDelete } = relation;
      const key = relation.foreignKey as string;
      const cascaded = new Set<string>();
      for (const id of store.table(source).rows.keys()) {
        const row = rowAfter(store, changes, source, id);
        if (!row || !wave.gone.has(row[key] as string)) continue;
        if (onDelete === "restrict") restricted.push([source, id]);
        else if (onDelete === "cascade") cascaded.add(id);
        else changesOf(changes, source).set(id, { ...row, [key]: null });
      }
      if (cascaded.size === 0) continue;
      for (const id of cascaded) changesOf(changes, source).set(id, null);
      pending.push({ target: source, gone: cascaded });
    }
  }
  if (restricted.some(([source, id]) => rowAfter(store, changes, source, id) !== null)) throw new ReferencedError();
  return changes;
}

function checkReferences(store: Store, changes: Changes, entity: AnyEntity, row: Row): void {
  for (const { target, foreignKey } of constrained(store, entity)) {
    const id = row[foreignKey as string] as string | null;
    if (id !== null && !rowAfter(store, changes, target, id)) throw danglingReference(foreignKey as string);
  }
}

function checkUnique(index: UniqueIndex, rows: ReadonlyMap<string, Row | null>): void {
  const taken = new Set<string>();
  for (const row of rows.values()) {
    const key = row === null ? undefined : uniqueKey(index, row);
    if (key === undefined) continue;
    const holder = index.holders.get(key);
    const isTaken = taken.has(key) || (holder !== undefined && !rows.has(holder));
    if (isTaken) throw new ConflictError(undefined, { fields: index.columns });
    taken.add(key);
  }
}

function write({ rows, uniques }: Table, changed: ReadonlyMap<string, Row | null>): void {
  // All old keys are removed before new ones are added: two rows of one statement may swap a value.
  for (const index of uniques) {
    for (const id of changed.keys()) {
      const previous = rows.get(id);
      const key = previous && uniqueKey(index, previous);
      if (key !== undefined) index.holders.delete(key);
    }
    for (const [id, row] of changed) {
      const key = row === null ? undefined : uniqueKey(index, row);
      if (key !== undefined) index.holders.set(key, id);
    }
  }
  for (const [id, row] of changed) {
    if (row === null) rows.delete(id);
    else rows.set(id, row);
  }
}

/** Deletes the pairs of deleted records. */
function dropLinks(store: Store, entity: AnyEntity, changed: ReadonlyMap<string, Row | null>): void {
  const isGone = (id: string): boolean => changed.get(id) === null;
  for (const [name, { source, target, pairs }] of store.linkTables()) {
    for (const [key, pair] of pairs) {
      const goes = (source === entity && isGone(pair.source)) || (target === entity && isGone(pair.target));
      if (goes) store.writableLinks(name).pairs.delete(key);
    }
  }
}
