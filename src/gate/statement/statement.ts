import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import type { Condition, Row } from "../condition/condition.ts";
import type { Aggregate } from "./aggregate.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { SortKey } from "./driver-port.ts";

/** Reads records. */
export interface Find {
  readonly kind: "find";
  readonly entity: AnyEntity;
  readonly where: Condition;
  /** Columns to return. @default all */
  readonly select?: readonly string[] | undefined;
  /** @default by id */
  readonly sort?: readonly SortKey[] | undefined;
  /** @default all records */
  readonly limit?: number | undefined;
  /** @default 0 */
  readonly offset?: number | undefined;
  /**
   * At most so many records for each value of a column, the first ones in the order. A driver may ignore it: what it reads
   * besides is left out. @default any number
   */
  readonly perParent?: { readonly column: string; readonly limit: number } | undefined;
  /** What the key `_rank` of the order counts: the weights of the conditions that a record meets. @default no such key */
  readonly rank?: readonly Ranked[] | undefined;
  /**
   * Bytes that the records may have. Records that do not fit are not read: the driver asks `take` how many fit, which also
   * notes that some were left out. A driver that ignores it holds as many bytes in memory as the records have.
   * @default any number
   */
  readonly bytes?: ByteBudget | undefined;
  /**
   * The columns that count for `bytes`: how many records fit must not depend on the others. @default all that are read
   */
  readonly counted?: ReadonlySet<string> | undefined;
  /** Relations to read along; only for drivers with the capability `joins`. @default no relations */
  readonly joins?: readonly JoinedFind[] | undefined;
  /**
   * Whether datetimes may be ISO 8601 texts, as in JSON, for callers that only write the records out. Converting texts
   * to dates and back is a good part of the cost of a list. @default false
   */
  readonly textMoments?: boolean | undefined;
  /**
   * Locks the record until the transaction is over, so that only this transaction changes it. The condition names one id,
   * and is decided after the lock is held. With `"delete"`, no record that refers to it is stored meanwhile either, where the
   * database has such a lock, and a condition on related records is decided once all is locked that a deletion would wait for:
   * pairs, and records that it changes or deletes as well. @default false
   */
  readonly lock?: boolean | "delete" | undefined;
}

/** What a condition that a record meets counts for its rank. */
export interface Ranked {
  readonly where: Condition;
  readonly weight: number;
}

/** A belongsTo relation whose record is read along: each row has it, or null, under the relation's name. */
export interface JoinedFind {
  readonly relation: ResolvedRelation;
  /** A related record that does not meet it is null. */
  readonly where: Condition;
}

/** Counts records. */
export interface Count {
  readonly kind: "count";
  readonly entity: AnyEntity;
  readonly where: Condition;
  /** Where counting may stop; a driver that ignores it goes on. @default at the end */
  readonly most?: number | undefined;
}

/** Stores complete records, ids included: all or nothing. */
export interface Insert {
  readonly kind: "insert";
  readonly entity: AnyEntity;
  readonly rows: readonly Row[];
  /**
   * Condition on the one new record and on the database as it is without it, decided in the statement that stores it: a
   * relation of the record leads to records that are already stored, and no stored record refers to it. When it does
   * not hold, nothing is stored, no constraint is looked at, and the count is 0. Only for drivers with the capability
   * `conditionalInserts`. @default no condition
   */
  readonly where?: Condition | undefined;
  /** Whether the stored record is returned; for one row. @default false */
  readonly returning?: boolean | undefined;
  /**
   * Whether the rows, which have ids, may be stored by a later statement of the transaction, which then fails in its place.
   * Drivers store them at once. @default false
   */
  readonly later?: boolean | undefined;
}

/**
 * Changes the records that match. Data has no id. An entity's version is counted up; a version in the data is ignored.
 */
export interface Update {
  readonly kind: "update";
  readonly entity: AnyEntity;
  readonly where: Condition;
  readonly data: Row;
  /** Whether the changed record is returned; for a condition that names one id. @default false */
  readonly returning?: boolean | undefined;
}

/** Deletes the records that match. */
export interface Delete {
  readonly kind: "delete";
  readonly entity: AnyEntity;
  readonly where: Condition;
}

/** Reads pairs of a manyToMany relation, ordered by source, then target. */
export interface FindPairs {
  readonly kind: "pairs";
  readonly relation: ResolvedRelation;
  /** Sources of the pairs. */
  readonly ids: readonly string[];
  /** Condition on the records at the other end. */
  readonly where: Condition;
  /** Pairs at most; when there are more, the driver chooses which. @default all */
  readonly limit?: number | undefined;
}

/** Adds pairs ("link"), where those that exist stay, or removes them ("unlink"), where those that do not exist are ignored. */
export interface ChangePairs {
  readonly kind: "link" | "unlink";
  readonly relation: ResolvedRelation;
  /** The source of the pairs. */
  readonly id: string;
  /** Each once. */
  readonly targets: readonly string[];
}

/** All statements of the driver port. */
export type Statement = Find | Count | Aggregate | Insert | Update | Delete | FindPairs | ChangePairs;

/** A pair of a manyToMany relation, as one side sees it. */
export interface Pair {
  readonly source: string;
  readonly target: string;
}

/** What a statement wrote. */
export interface Written {
  /** How many records. */
  readonly count: number;
  /** The record, where the statement requested it and wrote one. */
  readonly rows: readonly Row[];
}

/** The result of a statement. */
export type ResultOf<S extends Statement> = S extends Find | Aggregate
  ? Row[]
  : S extends Count
    ? number
    : S extends FindPairs
      ? Pair[]
      : S extends ChangePairs
        ? undefined
        : Written;

/** Runs a statement. */
export type Execute = <S extends Statement>(statement: S) => Promise<ResultOf<S>>;

/** The entity that a statement is about: the source of pairs. */
export function entityOf(statement: Statement): AnyEntity {
  return "entity" in statement ? statement.entity : statement.relation.source;
}

/** Whether a statement may change something. */
export function isWrite(statement: Statement): statement is Insert | Update | Delete | ChangePairs {
  return statement.kind !== "find" && !isRead(statement);
}

/** Whether a statement changes nothing and locks nothing. */
export function isRead(statement: Statement): boolean {
  switch (statement.kind) {
    case "find":
      return (statement.lock ?? false) === false;
    case "count":
    case "aggregate":
    case "pairs":
      return true;
    default:
      return false;
  }
}
