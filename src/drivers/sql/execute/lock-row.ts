import type { SqlQueryable } from "@prisma/driver-adapter-utils";
import {
  type AnyEntity,
  type ColumnDefinition,
  idParts,
  type ResolvedRelation,
  referring,
} from "../../../entity/index.ts";
import { and, type Condition, compare, looksAt, type Row, soleId } from "../../../gate/index.ts";
import { codecOf } from "../condition/column-codec.ts";
import { lockPairsQuery } from "../statement/link-queries.ts";
import { orderOf, rowsOf, type Selection, selectionOf, selectQuery } from "../statement/select-query.ts";
import type { SqlConnection, SqlSession } from "../statement/sql-connection.ts";
import { type Encoded, updateQuery } from "../statement/write-queries.ts";
import { linkRelations } from "../tables/link-table.ts";

/**
 * Locks a record and reads it. A statement that waited for the lock sees related records as they were before the wait,
 * so conditions on them are checked again after the record is locked, together with everything that a deletion would
 * wait for. A record that does not meet them is not locked. SQLite has one writer and no lock statement: an update
 * without effect takes the lock.
 */
export function lockRow(
  session: SqlSession,
  entity: AnyEntity,
  selection: Selection,
  condition: Condition,
  strength: true | "delete",
): Promise<Row[]> {
  const open = session.connection();
  const id = soleId(condition) as string;
  const isSqlite = open.dialect.provider === "sqlite";
  const isApart = !isSqlite && looksAt(condition);
  const locked = isApart ? compare(idOf(entity), "eq", id) : condition;
  const lock = isSqlite
    ? updateQuery(open, entity, condition, unchanged(entity, id), selection)
    : selectQuery(open, entity, selection, { condition: locked, lock: strength });
  return session.write({ model: entity.name, operation: "lock" }, async (client) => {
    const read = async (): Promise<Row[]> =>
      rowsOf(selection, await client.queryRaw(selectQuery(open, entity, selection, { condition })));
    if (isApart && (await read()).length === 0) return [];
    const rows = rowsOf(selection, await client.queryRaw(lock));
    if (isSqlite || rows.length === 0) return rows;
    if (strength === "delete") await new DeletionLocks(open, client).lock(entity, [id]);
    return isApart ? read() : rows;
  });
}

function idOf({ columns }: AnyEntity): ColumnDefinition {
  return columns.id as ColumnDefinition;
}

/** An update without effect on the row with this id. */
function unchanged(entity: AnyEntity, id: string): Encoded {
  const own = idOf(entity);
  const [column = own] = own.parts ?? [];
  const value = own.parts === undefined ? id : idParts(own.parts, id)?.[0];
  return new Map([[column.name, codecOf("sqlite", column).encode(value)]]);
}

/** Maximum number of records locked by one statement. */
const PORTION = 1_000;

/**
 * Locks the records that a deletion reads, changes or deletes: those that refer to the deleted ones, and their pairs.
 */
class DeletionLocks {
  readonly #open: SqlConnection;
  readonly #client: SqlQueryable;
  /** Locked records, since records may refer to each other. */
  readonly #known = new Set<string>();

  constructor(open: SqlConnection, client: SqlQueryable) {
    this.#open = open;
    this.#client = client;
  }

  /** @param ids the ids of locked records, which no further records can refer to */
  async lock(entity: AnyEntity, ids: readonly string[]): Promise<void> {
    const { model } = this.#open;
    for (const relation of linkRelations(model))
      if (relation.source === entity || relation.target === entity)
        await this.#client.queryRaw(lockPairsQuery(this.#open, relation, entity, ids));
    for (const relation of referring(model, entity))
      if (!relation.source.readOnly) await this.#lockReferring(relation, ids);
  }

  async #lockReferring({ source, foreignKey, onDelete }: ResolvedRelation, ids: readonly string[]): Promise<void> {
    const selection = selectionOf(this.#open, source, { select: ["id"] });
    const order = orderOf(source, undefined);
    const refers = compare(source.columns[foreignKey as string] as ColumnDefinition, "in", ids);
    // One record that prevents the deletion is enough.
    const limit = onDelete === "restrict" ? 1 : PORTION;
    for (let condition = refers; ; ) {
      const query = selectQuery(this.#open, source, selection, { condition, order, limit, lock: "delete" });
      const found = rowsOf(selection, await this.#client.queryRaw(query)).map(({ id }) => id as string);
      if (onDelete === "cascade") await this.#lockFurther(source, found);
      if (found.length < PORTION) return;
      condition = and([refers, compare(idOf(source), "gt", found.at(-1))]);
    }
  }

  async #lockFurther(entity: AnyEntity, found: readonly string[]): Promise<void> {
    const ids = found.filter((id) => !this.#known.has(`${entity.name} ${id}`));
    for (const id of ids) this.#known.add(`${entity.name} ${id}`);
    if (ids.length > 0) await this.lock(entity, ids);
  }
}
