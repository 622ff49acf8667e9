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
   * Limits the number of records per value of a column to the first ones in the order. A driver may return more; they
   * are then left out.
   * @default no limit
   */
  readonly perParent?: { readonly column: string; readonly limit: number } | undefined;
  /** The conditions whose weights are added up for the sort key `_rank`. @default no such key */
  readonly rank?: readonly Ranked[] | undefined;
  /**
   * The size limit of the records in bytes. Records that do not fit are not read: the driver calls `take` for the
   * number that fits, which also notes that some were left out. A driver that ignores it holds all records in memory.
   * @default no limit
   */
  readonly bytes?: ByteBudget | undefined;
  /**
   * The columns that count for `bytes`: the number of records that fit must not depend on other columns.
   * @default all columns that are read
   */
  readonly counted?: ReadonlySet<string> | undefined;
  /** Related records to read with the records; only for drivers with the capability `joins`. @default no relations */
  readonly joins?: readonly JoinedFind[] | undefined;
  /**
   * Whether datetimes may be ISO 8601 texts, as in JSON, for callers that only serialize the records. Converting texts
   * to dates and back is a large part of the cost of a list. @default false
   */
  readonly textMoments?: boolean | undefined;
  /**
   * Locks the record until the transaction ends, so that only this transaction can change it. The condition contains
   * one id and is evaluated after the lock is acquired; drivers with the capability `locksInOrder` also take a
   * condition on several records that does not use others, and lock them in the order of their ids. With `"delete"`, no
   * record that refers to it can be stored meanwhile either, if the database has such a lock, and with one id,
   * everything is locked that a deletion would wait for: pairs, and records that it changes or deletes. @default false
   */
  readonly lock?: boolean | "delete" | undefined;
}

/** A condition and the weight that it adds to the rank of a record that meets it. */
export interface Ranked {
  readonly where: Condition;
  readonly weight: number;
}

/** A belongsTo relation whose record is read with each row: it is stored under the relation's name, or null. */
export interface JoinedFind {
  readonly relation: ResolvedRelation;
  /** Related records that do not meet it are null. */
  readonly where: Condition;
}

/** Counts records. */
export interface Count {
  readonly kind: "count";
  readonly entity: AnyEntity;
  readonly where: Condition;
  /** The number at which counting may stop; a driver may ignore it. @default no limit */
  readonly most?: number | undefined;
}

/** Stores complete records including ids, all or nothing. */
export interface Insert {
  readonly kind: "insert";
  readonly entity: AnyEntity;
  readonly rows: readonly Row[];
  /**
   * A condition on the single new record and on the database without it, evaluated in the statement that stores the
   * record: relations of the record lead to stored records, and no stored record refers to it. If it does not hold,
   * nothing is stored, no constraint is checked, and the count is 0. Only for drivers with the capability
   * `conditionalInserts`. @default no condition
   */
  readonly where?: Condition | undefined;
  /** Whether the stored record is returned; for one row. @default false */
  readonly returning?: boolean | undefined;
  /**
   * Whether the rows, which have ids, may be stored by a later statement of the transaction, which then fails instead
   * of this one. Drivers store them immediately. @default false
   */
  readonly later?: boolean | undefined;
  /** Whether checks follow that read what other transactions have changed meanwhile. @default false */
  readonly checked?: boolean | undefined;
}

/**
 * Updates the matching records. Data contains no id. The entity's version is incremented; a version in the data is
 * ignored.
 */
export interface Update {
  readonly kind: "update";
  readonly entity: AnyEntity;
  readonly where: Condition;
  readonly data: Row;
  /** Whether the updated record is returned; for a condition with one id. @default false */
  readonly returning?: boolean | undefined;
}

/** Deletes the matching records. */
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
  /** Maximum number of pairs; when there are more, the driver chooses which to return. @default all */
  readonly limit?: number | undefined;
}

/** Adds pairs ("link"; existing pairs are kept) or removes them ("unlink"; missing pairs are ignored). */
export interface ChangePairs {
  readonly kind: "link" | "unlink";
  readonly relation: ResolvedRelation;
  /** The source of the pairs. */
  readonly id: string;
  /** Without duplicates. */
  readonly targets: readonly string[];
}

/** All statements of the driver port. */
export type Statement = Find | Count | Aggregate | Insert | Update | Delete | FindPairs | ChangePairs;

/** A pair of a manyToMany relation, seen from one side. */
export interface Pair {
  readonly source: string;
  readonly target: string;
}

/** The result of a write. */
export interface Written {
  /** The number of records written. */
  readonly count: number;
  /** The written record, if the statement requested it. */
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

/** The entity of a statement; for pairs, the source. */
export function entityOf(statement: Statement): AnyEntity {
  return "entity" in statement ? statement.entity : statement.relation.source;
}

/** Whether a statement may change records. */
export function isWrite(statement: Statement): statement is Insert | Update | Delete | ChangePairs {
  return statement.kind !== "find" && !isRead(statement);
}

/** Whether a statement neither changes nor locks records. */
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
