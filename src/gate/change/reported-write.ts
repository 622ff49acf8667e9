import type { AnyEntity, ColumnDefinition, EntityModel } from "../../entity/index.ts";
import { type Hook, runHooks } from "../../kernel/index.ts";
import type { Row } from "../condition/condition.ts";
import { and, type Condition, compare, looksAt, soleId } from "../condition/condition.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { Driver } from "../statement/driver-port.ts";
import type { ChangePairs, Delete, Find, Insert, Update, Written } from "../statement/statement.ts";
import { type ChangeKind, causeOf, type RecordChange } from "./record-change.ts";
import type { Following } from "./relations-to-follow.ts";

/** Maximum number of rows in one statement, and of changes in one call of a listener. */
const PAGE = 500;

/** The payload of the listeners of one entity. */
export interface Noted {
  readonly changes: readonly RecordChange[];
  readonly driver: Driver;
  /** The scope that writes; undefined for services of the whole app. */
  readonly scope: OperationScope | undefined;
}

/** Listeners of one entity. */
export interface Listeners {
  /** Validators, which run before the change is reported. */
  readonly validating: readonly Hook<Noted>[];
  readonly changed: readonly Hook<Noted>[];
  readonly committed: readonly Hook<readonly RecordChange[]>[];
}

/** The entities that have listeners. */
export interface Watched {
  readonly model: EntityModel;
  readonly listeners: ReadonlyMap<AnyEntity, Listeners>;
  readonly followed: ReadonlyMap<AnyEntity, readonly Following[]>;
}

/** One write inside a transaction, with its cascading changes. */
export class ReportedWrite {
  readonly #watched: Watched;
  readonly #scope: OperationScope | undefined;
  readonly #driver: Driver;
  readonly #committed: RecordChange[];
  /** Records that are being deleted; they may refer to each other. */
  readonly #deleted = new Set<string>();

  constructor(watched: Watched, scope: OperationScope | undefined, driver: Driver, committed: RecordChange[]) {
    this.#watched = watched;
    this.#scope = scope;
    this.#driver = driver;
    this.#committed = committed;
  }

  run(entity: AnyEntity, statement: Insert | Update | Delete | ChangePairs): Promise<Written | undefined> {
    switch (statement.kind) {
      case "insert":
        return this.#insert(entity, statement);
      case "update":
        return this.#update(entity, statement);
      case "delete":
        return this.#takesPages(statement.where) && !this.#watched.followed.has(entity)
          ? this.#deleteAll(entity, statement)
          : this.#each(entity, statement.where, (own) => this.#delete(entity, own));
      default:
        return this.#changePairs(entity, statement);
    }
  }

  async #insert(entity: AnyEntity, statement: Insert): Promise<Written> {
    // Only a statement with one row returns the stored row with an id that the database generated.
    if (statement.rows.length > 1 && entity.idsFrom === "database") return this.#insertEach(entity, statement);
    const isMade = statement.rows[0]?.id === undefined || statement.later === true;
    const now = { ...statement, later: false, returning: isMade || statement.returning };
    const written = await this.#driver.execute(now);
    const rows = written.rows.length > 0 ? written.rows : statement.rows;
    for (let start = 0; start < rows.length && written.count > 0; start += PAGE) {
      const page = rows.slice(start, start + PAGE);
      await this.#report(
        entity,
        "create",
        page.map((row) => ({ before: null, after: row })),
      );
    }
    return written;
  }

  async #insertEach(entity: AnyEntity, statement: Insert): Promise<Written> {
    let count = 0;
    for (const row of statement.rows) count += (await this.#insert(entity, { ...statement, rows: [row] })).count;
    return { count, rows: [] };
  }

  #update(entity: AnyEntity, statement: Update): Promise<Written> {
    return this.#takesPages(statement.where)
      ? this.#updateAll(entity, statement)
      : this.#each(entity, statement.where, (own) => this.#updateOne(entity, { ...statement, where: own }));
  }

  /**
   * Whether several records can be changed by one statement and reported: no other transaction runs at the same time,
   * or the records are locked with their condition, which then must not use other records.
   */
  #takesPages(where: Condition): boolean {
    const { concurrentTransactions, locksInOrder } = this.#driver.capabilities;
    return soleId(where) === undefined && (!concurrentTransactions || (locksInOrder === true && !looksAt(where)));
  }

  async #updateOne(entity: AnyEntity, statement: Update): Promise<Written> {
    const [before] = await this.#locked(entity, statement.where);
    if (before === undefined) return { count: 0, rows: [] };
    const old = { ...before };
    const written = await this.#driver.execute({ ...statement, returning: true });
    await this.#report(
      entity,
      "update",
      written.rows.map((after) => ({ before: old, after })),
    );
    return statement.returning === true ? written : { count: written.count, rows: [] };
  }

  /** Changes all matching records with one statement per page. */
  async #updateAll(entity: AnyEntity, statement: Update): Promise<Written> {
    let count = 0;
    for await (const found of this.#lockedPages(entity, statement.where, true)) {
      const where = amongIds(entity, found);
      const before = new Map(found.map((row) => [row.id, { ...row }]));
      count += (await this.#driver.execute({ ...statement, where })).count;
      const rows = await this.#driver.execute({ kind: "find", entity, where });
      await this.#report(
        entity,
        "update",
        rows.map((after) => ({ before: before.get(after.id) ?? null, after })),
      );
    }
    return { count, rows: [] };
  }

  /** Deletes all matching records, to which no reported records refer, with one statement per page. */
  async #deleteAll(entity: AnyEntity, statement: Delete): Promise<Written> {
    let count = 0;
    for await (const found of this.#lockedPages(entity, statement.where, "delete")) {
      const before = found.map((row) => ({ ...row }));
      count += (await this.#driver.execute({ ...statement, where: amongIds(entity, found) })).count;
      await this.#report(
        entity,
        "delete",
        before.map((row) => ({ before: row, after: null })),
      );
    }
    return { count, rows: [] };
  }

  /** Deletes a record, after the records that the database would delete or change with it. */
  async #delete(entity: AnyEntity, where: Condition): Promise<Written> {
    const [found] = await this.#locked(entity, where, "delete");
    if (found === undefined) return { count: 0, rows: [] };
    const before = { ...found };
    const id = before.id as string;
    this.#deleted.add(`${entity.name} ${id}`);
    for (const { source, key, isDeleted } of this.#watched.followed.get(entity) ?? []) {
      const referring = compare(source.columns[key] as ColumnDefinition, "eq", id);
      await this.#each(source, referring, (own, other) =>
        isDeleted
          ? this.#deleteOnce(source, other, own)
          : this.#updateOne(source, { kind: "update", entity: source, where: own, data: { [key]: null } }),
      );
    }
    await this.#driver.execute({ kind: "delete", entity, where: compare(idOf(entity), "eq", id) });
    await this.#report(entity, "delete", [{ before, after: null }]);
    return { count: 1, rows: [] };
  }

  async #deleteOnce(entity: AnyEntity, id: string, where: Condition): Promise<Written> {
    return this.#deleted.has(`${entity.name} ${id}`) ? { count: 0, rows: [] } : this.#delete(entity, where);
  }

  /** Reports the pairs that were actually added or removed, from the side that writes them. */
  async #changePairs(entity: AnyEntity, statement: ChangePairs): Promise<undefined> {
    const { kind, relation, id, targets } = statement;
    await this.#locked(entity, compare(idOf(entity), "eq", id)); // other writers of its pairs wait
    const there = new Set((await this.#driver.links(entity, relation.name, [id])).map(({ target }) => target));
    await this.#driver.execute(statement);
    const moved = targets.filter((target) => there.has(target) === (kind === "unlink"));
    if (moved.length === 0) return undefined;
    const side = { id, [relation.name]: moved };
    const [before, after] = kind === "link" ? [null, side] : [side, null];
    await this.#report(entity, kind, [{ before, after }], relation.name);
    return undefined;
  }

  /** Calls `write` for each matching record, ordered by id. */
  async #each(
    entity: AnyEntity,
    where: Condition,
    write: (own: Condition, id: string) => Promise<Written>,
  ): Promise<Written> {
    const sole = soleId(where);
    if (sole !== undefined) return write(where, sole);
    let count = 0;
    for await (const rows of this.#pages(entity, where, { select: ["id"] }))
      for (const { id } of rows)
        count += (await write(and([compare(idOf(entity), "eq", id as string), where]), id as string)).count;
    return { count, rows: [] };
  }

  #lockedPages(entity: AnyEntity, where: Condition, lock: true | "delete"): AsyncIterable<readonly Row[]> {
    return this.#pages(entity, where, this.#driver.capabilities.concurrentTransactions ? { lock } : {});
  }

  async *#pages(
    entity: AnyEntity,
    where: Condition,
    options: Pick<Find, "select" | "lock">,
  ): AsyncIterable<readonly Row[]> {
    for (let page = where; ; ) {
      const rows = await this.#driver.execute({ kind: "find", entity, where: page, limit: PAGE, ...options });
      const last = rows.at(-1)?.id as string | undefined;
      if (last !== undefined) yield rows;
      if (last === undefined || rows.length < PAGE) return;
      page = and([where, compare(idOf(entity), "gt", last)]);
    }
  }

  #locked(entity: AnyEntity, where: Condition, lock: true | "delete" = true): Promise<Row[]> {
    return this.#driver.execute({ kind: "find", entity, where, limit: 1, lock });
  }

  async #report(
    entity: AnyEntity,
    kind: ChangeKind,
    sides: readonly Pick<RecordChange, "before" | "after">[],
    relation?: string,
  ): Promise<void> {
    const listeners = this.#watched.listeners.get(entity);
    if (listeners === undefined || sides.length === 0) return;
    const cause = causeOf(this.#scope);
    const changes = sides.map(({ before, after }): RecordChange => {
      const id = (after ?? before)?.id as string;
      return Object.freeze({ entity, kind, id, before, after: after && { ...after }, relation, cause });
    });
    const noted: Noted = { changes, driver: this.#driver, scope: this.#scope };
    await runHooks(listeners.validating, noted);
    await runHooks(listeners.changed, noted);
    if (listeners.committed.length > 0) this.#committed.push(...changes);
  }
}

function amongIds(entity: AnyEntity, rows: readonly Row[]): Condition {
  return compare(
    idOf(entity),
    "in",
    rows.map(({ id }) => id),
  );
}

function idOf({ columns }: AnyEntity): ColumnDefinition {
  return columns.id as ColumnDefinition;
}
