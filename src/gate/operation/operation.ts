import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { EntityRef, Row, Where } from "../condition/condition.ts";
import type { ByteBudget } from "../statement/byte-budget.ts";
import type { SortKey } from "../statement/driver-port.ts";
import type { Find, JoinedFind } from "../statement/statement.ts";
import type { Guard } from "./mask.ts";
import type { Otherwise } from "./new-operation.ts";
import type { OperationScope, Precondition } from "./operation-scope.ts";

/** The kinds of operations on records. */
export type OperationKind = "create" | "list" | "read" | "count" | "update" | "delete";

/** Key of what an include says about the related records. */
export const INCLUDED: unique symbol = Symbol("included");

/** Relations to include, nested: `{ director: {}, reviews: { author: {} } }`. */
export interface IncludeTree {
  readonly [relation: string]: IncludeTree;
  /** Which of the related records are included, and how. @default all, with all fields */
  readonly [INCLUDED]?: Included | undefined;
}

/** Which related records are included, and how. */
export interface Included {
  readonly where?: Where | undefined;
  readonly sort?: readonly SortKey[] | undefined;
  /** Records for each record that they belong to. To-many relations. */
  readonly limit?: number | undefined;
  readonly select?: readonly string[] | undefined;
  /** Adds how many related records there are, under `_count`. To-many relations. @default false */
  readonly count?: boolean | undefined;
}

/** What is computed of the records that a count matches, by group. */
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
  /** Whether `.minGroup()` counts: not for numbers of records that a list of the caller shows as they are. @default true */
  readonly hidesSmall?: boolean | undefined;
}

/** The query of a list, a read or a count, from any surface. Checked against the caller's field mask by the gate. */
export interface OperationQuery {
  where?: Where | undefined;
  /**
   * Text to search for: words of `.searchable()` fields, or a part of any text where an entity has no such field. Lists are
   * ordered by rank, unless they name an order.
   */
  search?: string | undefined;
  /** Adds to each record of a list where its words were found. @default false */
  highlight?: boolean | undefined;
  sort?: readonly SortKey[] | undefined;
  limit?: number | undefined;
  /** At most so many records for each value of a field: the first ones. A driver may return more of them. */
  perParent?: Find["perParent"];
  offset?: number | undefined;
  /** Position of the last record of the page before, as `encodeCursor` made it. */
  after?: string | undefined;
  /** The same as values of the sort keys, for code that has them; a cursor cannot hold long ones. */
  position?: readonly unknown[] | undefined;
  include?: IncludeTree | undefined;
  select?: readonly string[] | undefined;
  /** Whether to count all matching records; `"estimated"` counts no further than pages can be numbered. @default false */
  total?: boolean | "estimated" | undefined;
  /** What a count computes besides; its result is in `groups`. */
  aggregate?: AggregateQuery | undefined;
  /** Softly deleted records: left out, included, or returned alone. @default left out */
  deleted?: "with" | "only" | undefined;
  /**
   * Whether datetimes in the records may be ISO 8601 texts, for surfaces that only write them out as JSON. They stay
   * `Date`s when a hook that looks at records does not accept texts. @default false
   */
  textMoments?: boolean | undefined;
}

/** The rules that allow an operation of a kind, unless it names others. */
export const ACCESS: Readonly<Record<OperationKind, Access>> = {
  create: "create",
  list: "read",
  read: "read",
  count: "read",
  update: "update",
  delete: "delete",
};

/** What the rules decided. An operation is denied until a policy or a hook allows it; the system's are allowed. */
export interface Decision {
  allowed: boolean;
  /** Only these records; part of the statement itself. */
  predicate?: Where | undefined;
  /**
   * Whether the rules pass for some records only. Set by `scope.access.decide`, since its `predicate` may also say which
   * records exist at all.
   */
  forSome?: boolean | undefined;
  /** The part of `predicate` that says which records exist at all; set by `scope.access.decide`. */
  reach?: Where | undefined;
  /**
   * Rules that can only be decided with the record at hand. Columns the guard looked at become part of the
   * statement's `where`, so that a record that changed since does not slip through.
   */
  guard?: Guard | undefined;
  /** The refused records that are reported as missing, with 404 in place of 403. @default no records */
  missing?: Where | undefined;
  /** Names of the rules that decided; shown in development only. */
  rules?: readonly string[] | undefined;
  /** Why it was denied, in words for the developer; shown in development only. */
  reason?: string | undefined;
}

/**
 * One read or write of records on behalf of a principal, from any surface. Hooks of each phase read and change it.
 */
export interface Operation {
  readonly kind: OperationKind;
  readonly access: Access;
  /** Rules that decide in place of the entity's. */
  readonly rules?: readonly string[] | undefined;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  /** The request (or job) this belongs to: driver, services, log, nested operations. */
  readonly scope: OperationScope;
  /**
   * The record, for read, update and delete. When a hook reads it on an operation on several records, each record gets
   * an operation of its own; a hook that only needs `ids` reads those first.
   */
  readonly id?: string | undefined;
  /** The ids in its place, where one operation changes several records or decides about them beforehand. */
  readonly ids?: readonly string[] | undefined;
  readonly query: OperationQuery;
  readonly decision: Decision;
  /** Values to write: first as submitted, after `operation:validate` complete and typed. Create and update only. */
  data: Record<string, unknown>;
  /**
   * Adds something that must hold for the operation to apply to a record: it becomes part of the statement, and
   * `otherwise` says what a failure means. It cannot be removed again. For a create it is checked on the new record and
   * the database without it, and refuses like a rule. What `operation:authorize` requires with `"denied"` is part of
   * the decision: the changed record must still meet it.
   * @param otherwise for a create neither a function nor `"leave"` @default "missing"
   */
  require(where: Where, otherwise?: Otherwise): void;
  /** The same for what a condition cannot express, such as JSON: the record is locked until the statement has run. */
  require(test: (record: Row) => boolean, otherwise: "changed"): void;
  /**
   * Calls back in the operation's transaction, before its data is validated: for records that it refers to, whose ids the
   * listener puts into `data`. Repeated on further attempts. Create and update of one record.
   */
  whenBegun(listener: () => void | Promise<void>): void;
  /**
   * Calls back just before the statement, in its transaction when `transactional` is set as well: with the stored
   * record, which is locked from then on, or with the new one, which is not stored yet. Repeated on further attempts.
   * Create, update, delete.
   */
  whenHeld(listener: (record: Row) => void | Promise<void>): void;
  /**
   * Calls back after the statement and before `operation:execute`, in the same transaction. Repeated on further
   * attempts.
   */
  whenWritten(listener: () => void | Promise<void>): void;
  /**
   * What is included by the statement itself, where the driver can: set by `operation:plan`, and absent after the
   * statement when the driver cannot. Lists only.
   */
  joins?: readonly JoinedFind[] | undefined;
  /** Names of submitted fields that the caller may not write and that were dropped. */
  readonly ignored: string[];
  /** What this list, or what is included in the records, may have in bytes; see `OperationInput`. */
  bytes?: ByteBudget | undefined;
  /** Whether `operation:execute` hooks must share a transaction with the statement. */
  transactional: boolean;
  /**
   * Set by a hook that has to look at each record of an operation on several: each record then gets an operation of its
   * own.
   */
  apart: boolean;
  /** Whether the statement ran; false when `when` or `ifFound` left the record alone. */
  applied: boolean;
  /** The result of the statement: records tagged with their entity. */
  records: Row[];
  /**
   * The number of matching records, for count and for lists that request it; the number of `ids` changed or deleted.
   */
  total?: number | undefined;
  /** The groups of a count that computes something: keys and measures by name. */
  groups?: readonly Row[] | undefined;
  /** Cursor of the next page, when there may be one. */
  nextCursor?: string | undefined;
}

/**
 * What starts an operation. `query` and `data` may be functions: they run after authorization, so that the input of a
 * refused caller is never read.
 */
export interface OperationInput {
  readonly kind: OperationKind;
  /** Stands for the app's own entity of that name. */
  readonly entity: EntityRef;
  readonly id?: string | undefined;
  /**
   * Several records in place of one: changes those that exist and that the rules let the caller change, all or nothing.
   * As one statement when no rule, hook or validator needs the individual records; otherwise one operation each, in a
   * transaction. `total` is the number of records changed; `records` stays empty. Update and delete.
   */
  readonly ids?: readonly string[] | undefined;
  /** Which of the entity's rules decide. @default those of the kind: read for lists, reads and counts */
  readonly access?: Access | undefined;
  /** Rules that decide in place of the entity's (any of them). @default the entity's for `access` */
  readonly rules?: readonly string[] | undefined;
  readonly query?: OperationQuery | ((operation: Operation) => OperationQuery | Promise<OperationQuery>) | undefined;
  readonly data?:
    | Record<string, unknown>
    | ((operation: Operation) => Record<string, unknown> | Promise<Record<string, unknown>>)
    | undefined;
  /**
   * Values that the surface itself stores besides `data`; `.readonly()` fields may be among them. A field that the rules
   * keep from the caller is refused with 403, not left out. Create and update.
   */
  readonly set?: Readonly<Record<string, unknown>> | undefined;
  /**
   * A condition that the stored record must meet for the statement to apply (compare-and-set). Other records stay as
   * they are, and `records` is empty. Update and delete.
   */
  readonly when?: Where | undefined;
  /** The same, but a failure is an error. Update and delete. @default the scope's, when it is about this record */
  readonly precondition?: Precondition | undefined;
  /**
   * Whether a record that is missing, or out of this caller's reach, is ignored: `records` is then empty. @default
   * false
   */
  readonly ifFound?: boolean | undefined;
  /**
   * Whether the calling code uses nothing of the new record but its id: it may then be stored later in the transaction, together
   * with others. Create. @default false
   */
  readonly idOnly?: boolean | undefined;
  /**
   * Whether the calling code has bounded the query already, as includes and the parsers of query strings do. The gate
   * then does not apply `limits`; rights are checked all the same. @default false
   */
  readonly bounded?: boolean | undefined;
  /**
   * What the records may have in bytes, with all that is included in them, where they are part of something larger: the
   * calling code has to check `isCut`. A list with its own `limits.pageBytes` continues with its cursor, or is refused
   * without one.
   * @default `limits.pageBytes`, and no limit for the system
   */
  readonly bytes?: ByteBudget | undefined;
}
