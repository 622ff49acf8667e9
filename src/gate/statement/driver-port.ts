import type { EntityModel } from "../../entity/index.ts";
import type { Logger } from "../../kernel/index.ts";
import type { EntityRef, Row, Where } from "../condition/condition.ts";
import type { Execute, Find, JoinedFind, Pair, ResultOf, Statement } from "./statement.ts";

/** One key of an order; `null` sorts as the smallest value. */
export interface SortKey {
  /** A column, or the path to a column of a related record: `author.name`. */
  readonly field: string;
  readonly direction: "asc" | "desc";
  /**
   * The belongsTo relations of a path, which lead to the record that has the column: null where there is no such record, or
   * where one on the way does not meet its condition. Only for drivers with the capability `sortsRelated`. @default no path
   */
  readonly through?: readonly JoinedFind[] | undefined;
}

/** How one record is read. */
export interface FindOptions {
  /** Columns to return. @default all */
  readonly select?: readonly string[] | undefined;
  /**
   * Locks the record until the transaction is over, so that only this transaction changes it. The condition has to name an
   * id; it is decided after the lock is held. With `"delete"`, no record that refers to it is stored meanwhile either, where the
   * database has such a lock. @default false
   */
  readonly lock?: Find["lock"] | undefined;
}

/** Which records are read, in which order, and how many of them. */
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

/** Which pairs of a manyToMany relation are read. */
export interface LinkOptions {
  /** Conditions on the records at the other end: pairs with others are left out. @default all pairs */
  readonly where?: Where | undefined;
  /** Pairs at most; when there are more, the driver chooses which. @default all pairs */
  readonly limit?: number | undefined;
}

/** How a new record is stored. */
export interface CreateOptions {
  /**
   * Condition on the new record and on the database as it is without it. For drivers with the capability
   * `conditionalInserts`. @default no condition
   * @throws NotStoredError when it does not hold; nothing is stored, and no constraint is looked at
   */
  readonly where?: Where | undefined;
}

/** How a driver runs a transaction. */
export interface TransactionOptions {
  /** Milliseconds until the transaction is rolled back. @default 30000 */
  readonly timeout?: number;
}

/** What a driver can do beyond the port's minimum. */
export interface DriverCapabilities {
  /** Whether a `find` reads related records along (`joins`). @default false */
  readonly joins?: boolean | undefined;
  /** Whether an `insert` takes a condition (`where`); for others the gate checks before it stores. @default false */
  readonly conditionalInserts?: boolean | undefined;
  /** Whether it runs `aggregate` statements; for others the gate reads the records. @default false */
  readonly aggregates?: boolean | undefined;
  /** Whether a `find` sorts by columns of related records (`through`); others refuse such an order. @default false */
  readonly sortsRelated?: boolean | undefined;
  /** Whether transactions run concurrently. */
  readonly concurrentTransactions: boolean;
  /**
   * Whether an `update` and a `delete` of a list of ids never deadlock in concurrent transactions: they lock in the
   * order of the ids' code units. Without it, operations on several records are one for each.
   * @default false
   */
  readonly locksInOrder?: boolean | undefined;
  /** How many transactions can be open at the same time, where the driver knows its connections. @default unknown */
  readonly transactions?: number | undefined;
  /** Whether data survives the process. */
  readonly durable: boolean;
  /**
   * Whether it hashes passwords and encrypts fields by itself, outside an app, as a driver of `createEnhancedDriver`
   * does. Entity steps without an app require it.
   * @default false
   */
  readonly protectsFields?: boolean | undefined;
}

/** What a driver gets when the app starts. */
export interface DriverContext {
  readonly model: EntityModel;
  readonly log: Logger;
  readonly production: boolean;
}

/** Keeps tables and definitions in step, for drivers that can do so. */
export interface DriverSchema {
  /**
   * Creates and alters tables to fit the definitions.
   * @throws ConfigurationError when data would be lost, naming each loss and the option that allows it.
   */
  push(): Promise<{ readonly changed: boolean }>;
  /** Differences between tables and definitions, a sentence each; empty when they agree. */
  pending(): Promise<readonly string[]>;
  /**
   * Differences that this version of the app cannot work with, a sentence each with the remedy; additions of a later
   * version do not count. In mode "off" they are about tables and columns only.
   * @default in mode "auto" what `pending` says, in mode "off" nothing
   */
  misfits?(): Promise<readonly string[]>;
  /** "auto" pushes when the app starts outside production. Everywhere else the app refuses to start on misfits. */
  readonly mode: "auto" | "off";
}

/**
 * A database as Keelson sees it: it runs statements. One contract suite (`driverContract`) runs on every driver;
 * `defineDriver` makes of a port what code calls.
 *
 * Errors are Keelson's: a unique violation is a ConflictError whose `fields` name the columns, a dangling reference is
 * a ValidationFailedError on write and a ReferencedError on delete, a database that cannot be reached is a
 * DatabaseUnavailableError; anything else is a DatabaseError without the database's own text.
 *
 * Records of an entity with versions begin with 1, unless the data says otherwise; an `update` adds 1 in the same
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
  /** Runs a statement: all of it, or nothing. The statement is copied before the call returns. */
  execute<S extends Statement>(statement: S): Promise<ResultOf<S>>;
  /**
   * Runs work with statements that all commit, or all roll back when it throws. It may run again when the database rolled
   * back for the sake of another transaction.
   */
  transaction<T>(work: (execute: Execute) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/**
 * Persistence, as handlers, hooks, rules and steps use it: methods over the port's `execute`. Every `where` is compiled
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
   * Changes the one record that matches and returns it; null without a match. A `where` with an id takes a single
   * statement.
   * @throws ConflictError when several records match, ConfigurationError for no conditions, DatabaseError for another
   *   id
   */
  update(entity: EntityRef, where: Where, data: Row): Promise<Row | null>;
  /** Changes all records that match; the where must not be empty. Returns how many. */
  updateMany(entity: EntityRef, where: Where, data: Row): Promise<number>;
  /** Deletes the one record that matches; false without a match. @throws as `update` */
  delete(entity: EntityRef, where: Where): Promise<boolean>;
  /** Deletes all records that match; the where must not be empty. Returns how many. */
  deleteMany(entity: EntityRef, where: Where): Promise<number>;
  /** Records in batches, by keyset, without holding the result in memory. @param batchSize @default 1000 */
  stream(entity: EntityRef, query?: FindManyQuery, batchSize?: number): AsyncIterable<Row[]>;
  /** Pairs of a manyToMany relation whose source is one of `ids`, ordered by source, then target. */
  links(entity: EntityRef, relation: string, ids: readonly string[], options?: LinkOptions): Promise<Pair[]>;
  /** Adds pairs; those that exist already stay. */
  link(entity: EntityRef, relation: string, id: string, targets: readonly string[]): Promise<void>;
  /** Removes pairs; those that do not exist are ignored. */
  unlink(entity: EntityRef, relation: string, id: string, targets: readonly string[]): Promise<void>;
  /** Runs work with the driver of a transaction. A transaction inside a transaction joins it. */
  transaction<T>(work: (driver: Driver) => Promise<T>, options?: TransactionOptions): Promise<T>;
}
