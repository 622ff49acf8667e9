import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import { countedBytes, type Execute, type Find, type ResultOf, type Row, type Statement } from "../../gate/index.ts";
import { EntityNotFoundError } from "../../kernel/index.ts";
import { filterRows, holdsForNew, selectedColumns, sortRows } from "./filter-rows.ts";
import { copyRow, takeIn } from "./rows.ts";
import { change, insert, link, linksOf, remove, unlink } from "./statements.ts";
import type { Store } from "./store.ts";

/** Where statements go: the shared state, or a transaction's. */
export interface Session {
  /** @throws when it may not be used now */
  store(): Store;
  /** Runs a statement that changes something. */
  write<T>(statement: (store: Store) => T): Promise<T>;
}

/**
 * Runs statements of a session. Data is copied when a statement is given, so that later changes to it do not matter while the
 * statement waits for its turn; rows are copied on their way out.
 */
export function executeIn(session: Session): Execute {
  return (async (statement) => run(session, statement)) as Execute;
}

async function run(session: Session, statement: Statement): Promise<ResultOf<Statement>> {
  const current = session.store();
  switch (statement.kind) {
    case "find":
      return find(current, statement);
    case "count":
      return filterRows(current, ownEntity(current, statement.entity), statement.where).length;
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

/** The definition that the store knows: statements may come with another one of the same name. */
function ownEntity({ model }: Store, { name }: AnyEntity): AnyEntity {
  const entity = model.get(name);
  if (entity === undefined) throw new EntityNotFoundError(`There is no entity "${name}"`);
  return entity;
}

function ownRelation(store: Store, { source, name }: ResolvedRelation): ResolvedRelation {
  return store.model.relation(ownEntity(store, source), name) as ResolvedRelation;
}

function find(store: Store, { entity: given, where, select, sort, limit, offset = 0, bytes, counted }: Find): Row[] {
  const entity = ownEntity(store, given);
  const columns = selectedColumns(entity, select);
  const rows = sortRows(entity, filterRows(store, entity, where), sort);
  const page = rows.slice(offset, limit === undefined ? undefined : offset + limit);
  const read = select === undefined ? counted : new Set(columns.filter((name) => counted?.has(name) !== false));
  const fitting = bytes === undefined ? page.length : bytes.take(page.map((row) => countedBytes(row, read)));
  return page.slice(0, fitting).map((row) => copyRow(row, columns));
}

function written(entity: AnyEntity, rows: readonly Row[], returning = false): { count: number; rows: Row[] } {
  const columns = returning ? Object.keys(entity.columns) : [];
  return { count: rows.length, rows: returning ? rows.map((row) => copyRow(row, columns)) : [] };
}
