import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import { InternalError } from "../../kernel/index.ts";
import { type Condition, type Row, soleId, someLeaf } from "../condition/condition.ts";
import { matchesAlone, needsOnly } from "../condition/matches.ts";
import type { Driver } from "./driver-port.ts";
import { type Find, type Insert, isWrite, type ResultOf, type Statement, type Written } from "./statement.ts";
import { withMiddleware } from "./with-middleware.ts";

/** Thrown when held inserts could not be stored, so that the transaction runs again. It never leaves the gate. */
export const NOT_HELD: Error = new InternalError("The transaction runs again without holding inserts");

/**
 * The deferrable inserts (`Insert.later`) of one transaction. They are collected by entity and stored in one statement
 * per entity, before any other statement runs and before the commit. If the database refuses one of them, it is not
 * known which: the transaction is rolled back and runs again, without holding inserts.
 */
export class HeldInserts {
  /** The transaction's driver, with inserts held. */
  readonly driver: Driver;
  readonly #inner: Driver;
  /** In the order in which the entities were first used. */
  #held = new Map<AnyEntity, Map<string, Row>>();
  /** Records that this transaction has stored since its last update or deletion, with their stored values. */
  readonly #stored = new Map<string, Row>();
  #storing: Promise<void> = Promise.resolve();
  #isRefused = false;

  constructor(inner: Driver) {
    this.#inner = inner;
    this.driver = withMiddleware(inner, (statement) => this.#run(statement), { joins: true });
  }

  /**
   * Call when the work has finished or failed.
   * @param failure the error of the work
   * @throws NOT_HELD when the work must run again without holding inserts
   */
  async settle(failure?: unknown): Promise<void> {
    const isOver = failure !== undefined && !isRefusal(failure);
    if (!isOver)
      await this.#store().catch((error: unknown) => {
        if (!this.#isRefused) throw error;
      });
    if (this.#isRefused) throw NOT_HELD;
  }

  async #run(statement: Statement): Promise<ResultOf<Statement>> {
    if (statement.kind === "insert" && statement.later === true) return this.#hold(statement);
    const known = statement.kind === "find" ? this.#find(statement) : undefined;
    if (known !== undefined) return known;
    await this.#store();
    if (!isWrite(statement)) return this.#inner.execute(statement);
    // Inserts and pairs do not change the columns of other records.
    if (statement.kind === "update" || statement.kind === "delete") this.#stored.clear();
    const result = await this.#inner.execute(statement);
    if (statement.kind === "insert")
      for (const row of (result as Written).rows) this.#stored.set(keyOf(statement.entity, row.id), { ...row });
    return result;
  }

  async #hold({ entity, rows }: Insert): Promise<Written> {
    for (const row of rows) {
      if (this.#isTooEarly(entity, row)) await this.#store();
      const own = this.#held.get(entity) ?? new Map<string, Row>();
      this.#held.set(entity, own.set(row.id as string, { ...row }));
    }
    return { count: rows.length, rows: [] };
  }

  /**
   * Whether a held record would be stored before, or together with, a record that it refers to, or has the same id as
   * another.
   */
  #isTooEarly(entity: AnyEntity, row: Row): boolean {
    const values = new Set(Object.entries(row).flatMap(([name, value]) => (name === "id" ? [] : [value])));
    let isStoredNoEarlier = false;
    for (const [held, rows] of this.#held) {
      isStoredNoEarlier ||= held === entity;
      if (isStoredNoEarlier && [...rows.keys()].some((id) => values.has(id))) return true;
    }
    return this.#held.get(entity)?.has(row.id as string) === true;
  }

  /** Answers whether a record exists that this transaction has stored; undefined if the database must decide. */
  #find({ entity, where, select, limit = 1, offset = 0, lock, joins }: Find): Row[] | undefined {
    const id = soleId(where);
    const isPlain = select?.join() === "id" && limit > 0 && offset === 0 && !lock && joins === undefined;
    if (id === undefined || !isPlain) return undefined;
    const held = isAboutId(where) ? this.#held.get(entity)?.get(id) : undefined;
    const row = held ?? this.#stored.get(keyOf(entity, id));
    if (row === undefined || !needsOnly(where, row)) return undefined;
    return matchesAlone(where, row) === true ? [{ id }] : [];
  }

  async #store(): Promise<void> {
    const held = this.#held;
    if (held.size > 0) {
      this.#held = new Map();
      this.#storing = this.#storing.then(() => this.#insert(held));
      this.#storing.catch(() => {}); // every later statement fails with the error
    }
    await this.#storing;
  }

  async #insert(held: ReadonlyMap<AnyEntity, ReadonlyMap<string, Row>>): Promise<void> {
    try {
      for (const [entity, rows] of held)
        await this.#inner.execute({ kind: "insert", entity, rows: [...rows.values()] });
    } catch (error) {
      this.#isRefused = isRefusal(error);
      throw error;
    }
  }
}

/** Whether an error is a refusal by the database or a rule, and not a failure. */
function isRefusal(error: unknown): boolean {
  return isKeelsonError(error) && error.status < 500;
}

function keyOf({ name }: AnyEntity, id: unknown): string {
  return `${name} ${id}`;
}

/** Whether a condition uses only the record's id: other values of a record that is not stored yet may still differ. */
function isAboutId(condition: Condition): boolean {
  return !someLeaf(condition, (leaf) => leaf.op === "related" || leaf.column.role !== "id");
}
