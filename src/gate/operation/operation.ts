import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { EntityRef, Row, Where } from "../condition/condition.ts";
import type { ByteBudget } from "../statement/byte-budget.ts";
import type { SortKey } from "../statement/driver-port.ts";
import type { Find, JoinedFind } from "../statement/statement.ts";
import type { AgainListener, LockedRecord } from "./further-write.ts";
import type { Guard } from "./mask.ts";
import type { Otherwise } from "./new-operation.ts";
import type { OperationScope, Precondition } from "./operation-scope.ts";

/** The kinds of operations on records. */
export type OperationKind = "create" | "list" | "read" | "count" | "update" | "delete";

/** The key of the options of an include. */
export const INCLUDED: unique symbol = Symbol("included");

/** Relations to include, nested: `{ director: {}, reviews: { author: {} } }`. */
export interface IncludeTree {
  readonly [relation: string]: IncludeTree;
  /** Options of the related records. @default all records, with all fields */
  readonly [INCLUDED]?: Included | undefined;
}

/** Options of included records. */
export interface Included {
  readonly where?: Where | undefined;
  readonly sort?: readonly SortKey[] | undefined;
  /** Maximum number per parent record. To-many relations only. */
  readonly limit?: number | undefined;
  readonly select?: readonly string[] | undefined;
  /** Adds the number of related records under `_count`. To-many relations only. @default false */
  readonly count?: boolean | undefined;
}

/** The aggregates to compute from the matching records of a count, by group. */
export interface AggregateQuery {
  /** Fields, or parts of the calendar: `"customerId"`, `"month(createdAt)"`. @default one group */
  readonly group?: readonly string[] | undefined;
  /** @default false */
  readonly count?: boolean | undefined;
  readonly sum?: readonly string[] | undefined;
  readonly avg?: readonly string[] | undefined;
  readonly min?: readonly string[] | undefined;
  readonly max?: readonly string[] | undefined;
  /** Tests of measures by name: `{ count: { gte: 2 }, "sum.total": { lt: "10.00" } }`. */
  readonly having?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  /** Names of groups and measures: `{ field: "sum.total", direction: "desc" }`. @default the groups */
  readonly sort?: readonly SortKey[] | undefined;
  /** @default `limits.pageSize`, at most `limits.maxPageSize` */
  readonly limit?: number | undefined;
  /** @default 0 */
  readonly offset?: number | undefined;
  /** IANA time zone of the calendar. @default "UTC" */
  readonly zone?: string | undefined;
  /**
   * Whether `.minGroup()` applies; set to false for counts of records that the caller can list anyway. @default true
   */
  readonly hidesSmall?: boolean | undefined;
}

/** The query of a list, a read or a count, or about the record of a write. Checked against the caller's field mask. */
export interface OperationQuery {
  /** An update or delete of a record that does not meet the condition changes nothing, as with `when`. */
  where?: Where | undefined;
  /**
   * The search text: words of `.searchable()` fields, or a part of any text field when an entity has no searchable
   * fields. Lists are ordered by rank unless `sort` is given.
   */
  search?: string | undefined;
  /** Adds to each record of a list the places where the words were found. @default false */
  highlight?: boolean | undefined;
  sort?: readonly SortKey[] | undefined;
  limit?: number | undefined;
  /** Limits the number of records per value of a field to the first ones. A driver may return more. */
  perParent?: Find["perParent"];
  offset?: number | undefined;
  /** The position of the last record of the previous page, made by `encodeCursor`. */
  after?: string | undefined;
  /** The same position as values of the sort keys, for internal code; a cursor cannot hold long values. */
  position?: readonly unknown[] | undefined;
  include?: IncludeTree | undefined;
  select?: readonly string[] | undefined;
  /**
   * Whether to count all matching records; `"estimated"` stops counting at the last page that can be numbered. @default
   * false
   */
  total?: boolean | "estimated" | undefined;
  /** Aggregates that a count computes; the result is in `groups`. */
  aggregate?: AggregateQuery | undefined;
  /** Softly deleted records: left out, included, or returned alone. @default left out */
  deleted?: "with" | "only" | undefined;
  /**
   * Whether datetimes in the records may be ISO 8601 texts, for surfaces that only serialize them to JSON. They stay
   * `Date`s when a hook that reads records does not accept texts. @default false
   */
  textMoments?: boolean | undefined;
}

/** The rules that apply to each kind of operation, unless it names others. */
export const ACCESS: Readonly<Record<OperationKind, Access>> = {
  create: "create",
  list: "read",
  read: "read",
  count: "read",
  update: "update",
  delete: "delete",
};

/**
 * The rules' decision. An operation is denied until a policy or a hook allows it; the system's operations are allowed.
 */
export interface Decision {
  allowed: boolean;
  /** Restricts the records; part of the statement. */
  predicate?: Where | undefined;
  /**
   * Whether the rules pass for some records only. Set by `scope.access.decide`, because its `predicate` may also
   * restrict which records exist.
   */
  forSome?: boolean | undefined;
  /** The part of `predicate` that restricts which records exist; set by `scope.access.decide`. */
  reach?: Where | undefined;
  /**
   * Decides rules that need the loaded record. The columns it reads become part of the statement's `where`, so that a
   * record that has changed since is not written.
   */
  guard?: Guard | undefined;
  /** The refused records that are reported with 404 instead of 403. @default no records */
  missing?: Where | undefined;
  /** Names of the rules that decided; shown in development only. */
  rules?: readonly string[] | undefined;
  /** The reason for a denial, for the developer; shown in development only. */
  reason?: string | undefined;
}

/** One read or write of records by a principal, from any surface. Hooks of each phase read and change it. */
export interface Operation {
  readonly kind: OperationKind;
  readonly access: Access;
  /** Rules that replace the entity's. */
  readonly rules?: readonly string[] | undefined;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  /** The scope of the request or job: driver, services, log, nested operations. */
  readonly scope: OperationScope;
  /**
   * The id of the record, for read, update and delete. When a hook reads it on an operation on several records, each
   * record gets its own operation; a hook that only needs `ids` must read those first.
   */
  readonly id?: string | undefined;
  /** The ids, when one operation changes several records or decides on them beforehand. */
  readonly ids?: readonly string[] | undefined;
  readonly query: OperationQuery;
  readonly decision: Decision;
  /**
   * The values to write, for create and update: as submitted at first, complete and typed after `operation:validate`.
   */
  data: Record<string, unknown>;
  /**
   * Adds a condition that must hold for the operation to apply to a record. It becomes part of the statement and cannot
   * be removed; `otherwise` is the effect of a failure. For a create it is checked on the new record and against the
   * database without it, and refuses like a rule. Conditions that `operation:authorize` requires with `"denied"` are
   * part of the decision: the changed record must still meet them.
   * @param otherwise for a create neither a function nor `"leave"` @default "missing"
   */
  require(where: Where, otherwise?: Otherwise): void;
  /**
   * Adds a test that a condition cannot express, such as one on JSON. The record is locked until the statement has run.
   */
  require(test: (record: Row) => boolean, otherwise: "changed"): void;
  /**
   * Calls the listener in the operation's transaction, before its data is validated: for writing related records whose
   * ids the listener then sets in `data`. Repeated on further attempts. Create and update of one record.
   */
  whenBegun(listener: () => void | Promise<void>): void;
  /**
   * Names other records that the write will lock. Where transactions run concurrently, they are locked before it,
   * together with its own, in the order of all locks: by entity name, then by id.
   * @param find called in the transaction with the ids of the records that are locked
   */
  lockAlso(find: (ids: readonly string[]) => Promise<readonly LockedRecord[]>): void;
  /**
   * Calls the listener just before the statement, in its transaction when `transactional` is set as well. The listener
   * receives the stored record, which stays locked, or the new record, which is not stored yet. Repeated on further
   * attempts. Create, update, delete.
   */
  whenHeld(listener: (record: Row) => void | Promise<void>): void;
  /**
   * Calls the listener after the statement and before `operation:execute`, in the same transaction. Repeated on further
   * attempts.
   */
  whenWritten(listener: () => void | Promise<void>): void;
  /**
   * Calls the listener, in the same transaction, whenever the write may have waited for other transactions, so that
   * earlier decisions may be outdated: after the statement, after its pairs and after nested writes. It decides again,
   * as if the writes had not been made. Never called if transactions do not run concurrently. Create and update.
   */
  whenDecidedAgain(listener: AgainListener): void;
  /**
   * Related records that the statement itself reads. Set by `operation:plan`; absent after the statement when the
   * driver does not support it. Lists only.
   */
  joins?: readonly JoinedFind[] | undefined;
  /** Names of submitted fields that the caller may not write and that were dropped. */
  readonly ignored: string[];
  /** The size limit in bytes of this list or of the included records; see `OperationInput`. */
  bytes?: ByteBudget | undefined;
  /** Whether `operation:execute` hooks must share a transaction with the statement. */
  transactional: boolean;
  /**
   * Set by a hook that needs to see each record of an operation on several records; each record then gets its own
   * operation.
   */
  apart: boolean;
  /** Whether the statement ran; false when `when` or `ifFound` did not apply. */
  applied: boolean;
  /** The result of the statement: records tagged with their entity. */
  records: Row[];
  /**
   * The number of matching records for counts and for lists that request it; the number of `ids` changed or deleted.
   */
  total?: number | undefined;
  /** The groups of a count with aggregates: keys and measures by name. */
  groups?: readonly Row[] | undefined;
  /** The cursor of the next page, if there may be one. */
  nextCursor?: string | undefined;
}

/**
 * The input of an operation. `query` and `data` may be functions. They run after authorization, so that the input of a
 * refused caller is never read.
 */
export interface OperationInput {
  readonly kind: OperationKind;
  /** The entity, by name or definition; resolved to the app's entity of that name. */
  readonly entity: EntityRef;
  readonly id?: string | undefined;
  /**
   * The ids of all records that the same transaction changes, each in an operation with this same list: they are locked
   * in order before the first is changed. Update and delete. @default the record alone
   */
  readonly among?: readonly string[] | undefined;
  /**
   * Changes several records, all or nothing: those that exist and that the caller may change. They are changed in one
   * statement when no rule, hook or validator needs the individual records; otherwise with one operation each, in a
   * transaction. `total` is the number of records changed; `records` stays empty. Update and delete.
   */
  readonly ids?: readonly string[] | undefined;
  /** Which of the entity's rules apply. @default those of the kind: read for lists, reads and counts */
  readonly access?: Access | undefined;
  /** Rules that replace the entity's; one of them must pass. @default the entity's rules for `access` */
  readonly rules?: readonly string[] | undefined;
  readonly query?: OperationQuery | ((operation: Operation) => OperationQuery | Promise<OperationQuery>) | undefined;
  readonly data?:
    | Record<string, unknown>
    | ((operation: Operation) => Record<string, unknown> | Promise<Record<string, unknown>>)
    | undefined;
  /**
   * Values that the surface itself stores in addition to `data`; they may include `.readonly()` fields. If the rules
   * forbid the caller to write one of them, the operation is refused with 403. Create and update.
   */
  readonly set?: Readonly<Record<string, unknown>> | undefined;
  /**
   * A condition that the stored record must meet for the statement to apply (compare-and-set). Other records are not
   * changed, and `records` is empty. It is not limited to what the caller may read. Update and delete.
   */
  readonly when?: Where | undefined;
  /**
   * Like `when`, but a failure is an error. Update and delete. @default the scope's precondition, if it is for this
   * record
   */
  readonly precondition?: Precondition | undefined;
  /**
   * Whether to ignore a record that is missing or that this caller may not use: `records` is then empty. In a transaction
   * that was open before, it is an error once nested records have been written. @default false
   */
  readonly ifFound?: boolean | undefined;
  /**
   * Whether the calling code uses only the id of the new record: it may then be stored later in the transaction,
   * together with others. Create. @default false
   */
  readonly idOnly?: boolean | undefined;
  /**
   * Whether the calling code has already limited the query, as includes and query string parsers do. The gate then does
   * not apply `limits`, but still checks rights. @default false
   */
  readonly bounded?: boolean | undefined;
  /**
   * The size limit in bytes of the records and their included records, when they are part of a larger response: the
   * calling code must check `isCut`. A list with its own `limits.pageBytes` continues with its cursor, or is refused
   * without a cursor.
   * @default `limits.pageBytes`, and no limit for the system
   */
  readonly bytes?: ByteBudget | undefined;
}
