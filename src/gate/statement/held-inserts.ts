import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import { InternalError } from "../../kernel/index.ts";
import { type Condition, type Row, soleId, visitCondition } from "../condition/condition.ts";
import { matchesAlone, needsOnly } from "../condition/matches.ts";
import type { Driver } from "./driver-port.ts";
import { type Find, type Insert, isWrite, type ResultOf, type Statement, type Written } from "./statement.ts";
import { withMiddleware } from "./with-middleware.ts";

/** What a transaction fails with when held inserts could not be stored. Never leaves the gate. */
export const NOT_HELD: Error = new InternalError("The transaction runs again without holding inserts");

/**
 * The inserts of one transaction that may be stored later (`Insert.later`). They are collected by entity, and each entity's are
 * stored in one statement, before any other statement runs and before the commit. Which of them a database refuses is not
 * known then: the transaction is rolled back and runs again, with each insert where it was asked for.
 */
export class HeldInserts {
  /** The transaction's driver, with inserts held. */
  readonly driver: Driver;
  readonly #inner: Driver;
  /** In the order in which their entities came. */
  #held = new Map<AnyEntity, Map<string, Row>>();
  /** Records that this transaction has stored since its last change or deletion, as they are stored. */
  readonly #stored = new Map<string, Row>();
  #storing: Promise<void> = Promise.resolve();
  #isRefused = false;

  constructor(inner: Driver) {
    this.#inner = inner;
    this.driver = withMiddleware(inner, (statement) => this.#run(statement), { joins: true });
  }

  /**
   * Call when the work is done, or has failed.
   * @param failure what the work has failed with
   * @throws NOT_HELD when the work has to run again without holding inserts
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
    // Inserts and pairs leave the columns of other records as they are.
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

  /** Whether a record would be stored before one that it refers to, or with it, or with one of the same id. */
  #isTooEarly(entity: AnyEntity, row: Row): boolean {
    const values = new Set(Object.entries(row).flatMap(([name, value]) => (name === "id" ? [] : [value])));
    let isStoredNoEarlier = false;
    for (const [held, rows] of this.#held) {
      isStoredNoEarlier ||= held === entity;
      if (isStoredNoEarlier && [...rows.keys()].some((id) => values.has(id))) return true;
    }
    return this.#held.get(entity)?.has(row.id as string) === true;
  }

  /** Whether a record exists, where this transaction has made it and can say; undefined where the database has to. */
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
      this.#storing.catch(() => {}); // each statement from now on fails with it
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

/** Whether a database or a rule has refused something, rather than being unable to decide. */
function isRefusal(error: unknown): boolean {
  return isKeelsonError(error) && error.status < 500;
}

function keyOf({ name }: AnyEntity, id: unknown): string {
  return `${name} ${id}`;
}

/** Whether a condition looks at nothing but the record's id: of a record that is not stored yet, the rest may come to differ. */
function isAboutId(condition: Condition): boolean {
  let isOnly = true;
  visitCondition(condition, (leaf) => {
    isOnly &&= leaf.op === "compare" && leaf.column.role === "id";
  });
  return isOnly;
}
