import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { EntityRef, Row, Where } from "../condition/condition.ts";
import type { ByteBudget } from "../statement/byte-budget.ts";
import type { SortKey } from "../statement/driver.ts";
import type { JoinedFind } from "../statement/statement.ts";
import type { Guard } from "./mask.ts";
import type { Otherwise } from "./new-operation.ts";
import type { OperationScope, Precondition } from "./operation-scope.ts";

/** The kinds of operations on records. */
export type OperationKind = "create" | "list" | "read" | "count" | "update" | "delete";

/** Relations to include, nested: `{ director: {}, reviews: { author: {} } }`. */
export interface IncludeTree {
  readonly [relation: string]: IncludeTree;
}

/** What a list, a read or a count asks for, from whatever surface. Checked against the caller's field mask by the gate. */
export interface OperationQuery {
  where?: Where | undefined;
  sort?: readonly SortKey[] | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  /** Position of the last record of the page before, as `encodeCursor` made it. */
  after?: string | undefined;
  /** The same as values of the sort keys, for code that has them; a cursor cannot hold long ones. */
  position?: readonly unknown[] | undefined;
  include?: IncludeTree | undefined;
  select?: readonly string[] | undefined;
  /** Whether to count all matching records. @default false */
  total?: boolean | undefined;
  /** Records that are softly deleted: left out, there too, or nothing but these. @default left out */
  deleted?: "with" | "only" | undefined;
  /**
   * Whether moments in the records may be ISO 8601 texts, for surfaces that do nothing but write them out as JSON. They are
   * `Date`s all the same where a hook that looks at records has not said that it takes texts. @default false
   */
  textMoments?: boolean | undefined;
}

/** Whose rules allow an operation of a kind, unless it says otherwise. */
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
   * Whether the rules pass for some records only. What `scope.decide` gives has it, since its `predicate` may also say
   * which records are there at all.
   */
  forSome?: boolean | undefined;
  /** Of `predicate`, what says which records are there at all; what `scope.decide` gives has it. */
  reach?: Where | undefined;
  /**
   * Rules that can only be decided with the record at hand. Columns the guard looked at become part of the
   * statement's `where`, so that a record that changed since does not slip through.
   */
  guard?: Guard | undefined;
  /** Of the records that it refuses, those that are answered as missing, with 404 in place of 403. @default none */
  missing?: Where | undefined;
  /** Names of the rules that were asked; shown in development only. */
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
   * The record, for read, update and delete. A hook that asks an operation on several records for it has each of them get an
   * operation of its own; one that can do with `ids` asks for these first.
   */
  readonly id?: string | undefined;
  /** The records in place of it, where one operation changes several, or is asked about before several are changed. */
  readonly ids?: readonly string[] | undefined;
  readonly query: OperationQuery;
  readonly decision: Decision;
  /** Values to write: first as submitted, after `operation:validate` complete and typed. Create and update only. */
  data: Record<string, unknown>;
  /**
   * Adds something that must hold for the operation to apply to a record: it becomes part of the statement, and where the
   * record does not meet it, `otherwise` says what that means. Nothing can be taken away again. Of a create it is asked of the
   * new record, and of the database without it, and refuses like a rule. What `operation:authorize` requires with `"denied"`
   * is part of the decision: a changed record has to meet it still.
   * @param otherwise of a create neither a function nor `"leave"` @default "missing"
   */
  require(where: Where, otherwise?: Otherwise): void;
  /** The same for what no condition can say, such as JSON: the record is locked until the statement has run. */
  require(test: (record: Row) => boolean, otherwise: "changed"): void;
  /**
   * Calls back just before the statement, in its transaction when `transactional` is set as well: with the stored record, which
   * is locked from then on, or with the new one, which is not stored yet. For further attempts, too. Create, update, delete.
   */
  whenHeld(listener: (record: Row) => void | Promise<void>): void;
  /** Calls back after the statement and before `operation:execute`, in the same transaction. For further attempts, too. */
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
   * Set by a hook of an operation on several records that has to look at each of them: then it is not carried out, and each
   * gets an operation of its own.
   */
  apart: boolean;
  /** Whether the statement was run; not when `when` or `ifFound` left the record alone. */
  applied: boolean;
  /** What the statement gave: records tagged with their entity. */
  records: Row[];
  /** Matching records in all, for count and for lists that ask for it; how many of `ids` were changed or deleted. */
  total?: number | undefined;
  /** Cursor of the next page, when there may be one. */
  nextCursor?: string | undefined;
}

/** What starts an operation. `query` and `data` may be functions: they run after authorization, so that input of a caller who is refused is never looked at. */
export interface OperationInput {
  readonly kind: OperationKind;
  /** The app's own one of that name is meant. */
  readonly entity: EntityRef;
  readonly id?: string | undefined;
  /**
   * Several records in place of one: those that are there and that the rules let the caller change are changed, all of
   * them or, where something is wrong, none. One statement does it where no rule, hook or validator has to look at each
   * record, else an operation for each in one transaction. `total` says how many they were, `records` stays empty.
   * Update and delete.
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
   * What the stored record must be like for the statement to apply (compare-and-set). A record that is not is left as it
   * is, and `records` is empty. Update and delete.
   */
  readonly when?: Where | undefined;
  /** The same as something to be refused for. Update and delete. @default that of the scope, when it is about this record */
  readonly precondition?: Precondition | undefined;
  /** Whether a record that is missing, or not for this caller, is no error: `records` is empty then. @default false */
  readonly ifFound?: boolean | undefined;
  /**
   * Whether the code that asks has bounded the query already, as includes and the parsers of query strings do. The gate
   * then does not apply `limits`; rights are checked all the same. @default false
   */
  readonly bounded?: boolean | undefined;
  /**
   * What the records may have in bytes, with all that is included in them, where they are part of something larger: the
   * code that asks has to look at `isCut`. A list with `limits.pageBytes` of its own goes on with its cursor, or is
   * refused where it has none.
   * @default `limits.pageBytes`, and no limit for the system
   */
  readonly bytes?: ByteBudget | undefined;
}
