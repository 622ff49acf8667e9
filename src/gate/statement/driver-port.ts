import type { EntityModel } from "../../entity/index.ts";
import type { Logger } from "../../kernel/index.ts";
import type { EntityRef, Row, Where } from "../condition/condition.ts";
import type { Execute, Find, JoinedFind, Pair, ResultOf, Statement } from "./statement.ts";

/** One sort key; `null` sorts as the smallest value. */
export interface SortKey {
  /** A column, or the path to a column of a related record: `author.name`. */
  readonly field: string;
  readonly direction: "asc" | "desc";
  /**
   * The belongsTo relations of the path to the record that has the column. The value is null if there is no such
   * record, or if a record on the path does not meet its condition. Only for drivers with the capability
   * `sortsRelated`.
   * @default no path
   */
  readonly through?: readonly JoinedFind[] | undefined;
}

/** Options for reading one record. */
export interface FindOptions {
  /** Columns to return. @default all */
  readonly select?: readonly string[] | undefined;
  /**
   * Locks the record until the transaction ends, so that only this transaction can change it. The condition must
   * contain an id and is evaluated after the lock is acquired. With `"delete"`, no record that refers to it can be
   * stored meanwhile either, if the database has such a lock. @default false
   */
  readonly lock?: Find["lock"] | undefined;
}

/** Options for reading several records. */
export interface FindManyQuery {
  readonly where?: Where | undefined;
  /** Columns to return. @default all */
  readonly select?: readonly string[] | undefined;
  /** @default by id */
  readonly sort?: readonly SortKey[] | undefined;
  /** @default all records */
  readonly limit?: number | undefined;
  /** @default 0 */
  readonly offset?: number | undefined;
}

/** Options for reading pairs of a manyToMany relation. */
export interface LinkOptions {
  /** Conditions on the records at the other end; pairs with other records are left out. @default all pairs */
  readonly where?: Where | undefined;
  /** Maximum number of pairs; when there are more, the driver chooses which to return. @default all pairs */
  readonly limit?: number | undefined;
}

/** Options for storing a new record. */
export interface CreateOptions {
  /**
   * A condition on the new record and on the database without it. For drivers with the capability `conditionalInserts`.
   * @default no condition
   * @throws NotStoredError when it does not hold; nothing is stored, and no constraint is checked
   */
  readonly where?: Where | undefined;
}

/** Options of a transaction. */
export interface TransactionOptions {
  /** Milliseconds until the transaction is rolled back. @default 30000 */
  readonly timeout?: number;
}

/** Optional features of a driver. */
export interface DriverCapabilities {
  /** Whether a `find` can also read related records (`joins`). @default false */
  readonly joins?: boolean | undefined;
  /** Whether an `insert` takes a condition (`where`); otherwise the gate checks before it stores. @default false */
  readonly conditionalInserts?: boolean | undefined;
  /** Whether it runs `aggregate` statements; otherwise the gate reads the records. @default false */
  readonly aggregates?: boolean | undefined;
  /**
   * Whether a `find` sorts by columns of related records (`through`); otherwise such sort keys are refused. @default
   * false
   */
  readonly sortsRelated?: boolean | undefined;
  /** Whether transactions run concurrently. */
  readonly concurrentTransactions: boolean;
  /**
   * Whether an `update` and a `delete` of a list of ids never deadlock with others of their kind, because they lock in
   * the order of the ids' code units or take turns, and a `find` locks several records in that order. Otherwise
   * operations on several records run one statement per record.
   * @default false
   */
  readonly locksInOrder?: boolean | undefined;
  /**
   * The number of transactions that can be open at the same time, if the driver knows its connections. @default unknown
   */
  readonly transactions?: number | undefined;
  /** Whether data survives the process. */
  readonly durable: boolean;
  /**
   * Whether it hashes passwords and encrypts fields itself, outside an app, like a driver of `createEnhancedDriver`.
   * Entity steps without an app require it.
   * @default false
   */
  readonly protectsFields?: boolean | undefined;
}

/** The context that a driver receives when the app starts. */
export interface DriverContext {
  readonly model: EntityModel;
  readonly log: Logger;
  readonly production: boolean;
}

/** Synchronizes tables with definitions, for drivers that support it. */
export interface DriverSchema {
  /**
   * Creates and alters tables to match the definitions.
   * @throws ConfigurationError when data would be lost, naming each loss and the option that allows it
   */
  push(): Promise<{ readonly changed: boolean }>;
  /** The differences between tables and definitions, one sentence each; empty when they match. */
  pending(): Promise<readonly string[]>;
  /**
   * The differences that this version of the app cannot work with, one sentence each with the remedy; additions of a
   * later version do not count. In mode "off" they cover tables and columns only.
   * @default the result of `pending` in mode "auto", an empty list in mode "off"
   */
  misfits?(): Promise<readonly string[]>;
  /** "auto" pushes when the app starts outside production. Everywhere else the app refuses to start on misfits. */
  readonly mode: "auto" | "off";
}

/**
 * The port to a database: it runs statements. One contract suite (`driverContract`) runs on every driver;
 * `defineDriver` adds the methods that code calls.
 *
 * Errors are Keelson's: a unique violation is a ConflictError whose `fields` name the columns, a dangling reference is
 * a ValidationFailedError on write and a ReferencedError on delete, an unreachable database is a
 * DatabaseUnavailableError. All other errors are a DatabaseError without the database's message.
 *
 * New records of a versioned entity have version 1, unless the data contains another; an `update` adds 1 in the same
 * statement.
 */
export interface DriverPort {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  readonly schema?: DriverSchema | undefined;
  connect(context: DriverContext): Promise<void>;
  disconnect(): Promise<void>;
  /** Resolves when the database responds. @throws DatabaseUnavailableError */
  ping(): Promise<void>;
  /** Runs a statement atomically. The statement is copied before the call returns. */
  execute<S extends Statement>(statement: S): Promise<ResultOf<S>>;
  /**
   * Runs work in a transaction, which commits, or rolls back if the work throws. The work may run again if the database
   * rolled back because of another transaction.
   */
  transaction<T>(work: (execute: Execute) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/**
 * The database API for handlers, hooks, rules and steps: methods over the port's `execute`. Every `where` is compiled
 * with `compileWhere`, so an unknown column, an `undefined` or an inherited key throws before a statement runs.
 * Undefined values in data count as absent.
 */
export interface Driver extends Omit<DriverPort, "transaction"> {
  /** The entities it serves. @throws ConfigurationError before it is connected */
  readonly model: EntityModel;
  /** The first record that matches (by id order), or null. @throws BadRequestError for `lock` without an id */
  findOne(entity: EntityRef, where: Where, options?: FindOptions): Promise<Row | null>;
  findMany(entity: EntityRef, query?: FindManyQuery): Promise<Row[]>;
  count(entity: EntityRef, where?: Where): Promise<number>;
  /** Stores a complete record (id included) and returns it. */
  create(entity: EntityRef, data: Row, options?: CreateOptions): Promise<Row>;
  createMany(entity: EntityRef, rows: readonly Row[]): Promise<number>;
  /**
   * Updates the matching record and returns it; null if no record matches. A `where` with an id takes a single
   * statement.
   * @throws ConflictError when several records match, ConfigurationError for an empty `where`, DatabaseError for a
   *   different id
   */
  update(entity: EntityRef, where: Where, data: Row): Promise<Row | null>;
  /** Updates all matching records and returns their number. The `where` must not be empty. */
  updateMany(entity: EntityRef, where: Where, data: Row): Promise<number>;
  /** Deletes the matching record; returns false if no record matches. @throws as `update` */
  delete(entity: EntityRef, where: Where): Promise<boolean>;
  /** Deletes all matching records and returns their number. The `where` must not be empty. */
  deleteMany(entity: EntityRef, where: Where): Promise<number>;
  /** Yields records in batches, by keyset, without holding the result in memory. @param batchSize @default 1000 */
  stream(entity: EntityRef, query?: FindManyQuery, batchSize?: number): AsyncIterable<Row[]>;
  /** Pairs of a manyToMany relation whose source is one of `ids`, ordered by source, then target. */
  links(entity: EntityRef, relation: string, ids: readonly string[], options?: LinkOptions): Promise<Pair[]>;
  /** Adds pairs; existing pairs are kept. */
  link(entity: EntityRef, relation: string, id: string, targets: readonly string[]): Promise<void>;
  /** Removes pairs; missing pairs are ignored. */
  unlink(entity: EntityRef, relation: string, id: string, targets: readonly string[]): Promise<void>;
  /** Runs work in a transaction, with its driver. An inner transaction joins the outer one. */
  transaction<T>(work: (driver: Driver) => Promise<T>, options?: TransactionOptions): Promise<T>;
}
