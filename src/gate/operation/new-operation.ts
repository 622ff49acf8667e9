import type { Access, AnyEntity } from "../../entity/index.ts";
import { InternalError, type Principal } from "../../kernel/index.ts";
import { allPresent } from "../condition/compile-where.ts";
import type { Condition, Row, Where } from "../condition/condition.ts";
import type { AgainListener, LockedRecord } from "./further-write.ts";
import {
  ACCESS,
  type Decision,
  type Operation,
  type OperationInput,
  type OperationKind,
  type OperationQuery,
} from "./operation.ts";
import type { OperationScope, Precondition } from "./operation-scope.ts";
import type { GateScope } from "./runtime.ts";

const NO_QUERY: OperationQuery = Object.freeze({});
const NO_DATA: Record<string, unknown> = Object.freeze({});

type LockFinder = (ids: readonly string[]) => Promise<readonly LockedRecord[]>;

/** An operation as the gate sees it: properties that are readonly for hooks can be set here. */
export type MutableOperation = Omit<Operation, "scope" | "query"> & {
  scope: GateScope;
  query: OperationQuery;
  precondition: Precondition | undefined;
  readonly requirements: Requirement[];
  readonly begunListeners: readonly (() => void | Promise<void>)[];
  readonly lockFinders: readonly LockFinder[];
  readonly among: readonly string[] | undefined;
  readonly heldListeners: readonly ((record: Row) => void | Promise<void>)[];
  readonly writtenListeners: readonly (() => void | Promise<void>)[];
  readonly againListeners: readonly AgainListener[];
  /** The stored record before the change, if it is locked. */
  held: Row | undefined;
  /** What the record had to meet: a new one, or a stored one before its change. Undefined if that cannot end. */
  condition: Condition | undefined;
  /** What the changed record had to meet, likewise. */
  left: Condition | undefined;
  ifFound: boolean;
  /** Whether only the id of the new record is used. */
  readonly idOnly: boolean;
  toJSON(): readonly Row[];
};

/** Makes an operation. It is denied until a policy or a hook allows it. */
export function newOperation(scope: GateScope, entity: AnyEntity, input: OperationInput): MutableOperation {
  return new (input.ids === undefined ? SingleOperation : OperationOnSeveral)(scope, entity, input);
}

/** Thrown to end an operation on several records when each record needs its own operation. It never leaves the gate. */
export const ONE_BY_ONE: Error = new InternalError("Each record needs an operation of its own");

/**
 * Marks an operation on several records as run. It has no single record: a hook that read `record` before would have
 * forced one operation per record.
 */
export function settled(operation: Operation): Operation {
  return Object.defineProperty(operation, "id", { value: undefined });
}

abstract class GateOperation implements MutableOperation {
  readonly kind: OperationKind;
  readonly access: Access;
  readonly rules: readonly string[] | undefined;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  scope: GateScope;
  abstract readonly id: string | undefined;
  readonly ids: readonly string[] | undefined;
  query: OperationQuery;
  readonly decision: Decision = { allowed: false, predicate: undefined, guard: undefined, rules: undefined };
  data = NO_DATA;
  precondition: Precondition | undefined;
  readonly requirements: Requirement[] = [];
  readonly begunListeners: (() => void | Promise<void>)[] = [];
  readonly lockFinders: LockFinder[] = [];
  readonly among: readonly string[] | undefined;
  readonly heldListeners: ((record: Row) => void | Promise<void>)[] = [];
  readonly writtenListeners: (() => void | Promise<void>)[] = [];
  readonly againListeners: AgainListener[] = [];
  held: Row | undefined = undefined;
  condition: Condition | undefined = undefined;
  left: Condition | undefined = undefined;
  ifFound: boolean;
  readonly idOnly: boolean;
  joins: Operation["joins"] = undefined;
  bytes: Operation["bytes"];
  readonly ignored: string[] = [];
  transactional = false;
  apart = false;
  applied = true;
  records: Row[] = [];
  total: number | undefined = undefined;
  nextCursor: string | undefined = undefined;
  /** An own property, so that copies of an operation have it, too. */
  readonly toJSON = recordsOf;

  constructor(scope: GateScope, entity: AnyEntity, input: OperationInput) {
    this.kind = input.kind;
    this.access = input.access ?? ACCESS[input.kind];
    this.rules = input.rules;
    this.entity = entity;
    this.principal = scope.principal;
    this.scope = scope;
    this.ids = input.ids;
    this.among = input.among;
    this.precondition = input.precondition;
    this.ifFound = input.ifFound === true;
    this.idOnly = input.idOnly === true && scope.runtime.find(entity).planOf(this.kind, this.access).isUnseen;
    this.bytes = input.bytes;
    this.query = typeof input.query === "object" ? input.query : NO_QUERY;
  }

  /**
   * @throws InternalError for a function as test on operations other than update and delete, since no record is loaded;
   *   for a function or `"leave"` as `otherwise` on a create, since no record is stored yet
   */
  require(test: RecordTest, otherwise: Otherwise = "missing"): void {
    if (typeof test === "function" && this.kind !== "update" && this.kind !== "delete")
      throw new InternalError(`A requirement of ${this.kind} is a condition; functions are for update and delete`);
    if (this.kind === "create" && (typeof otherwise === "function" || otherwise === "leave"))
      throw new InternalError(
        'A requirement of create says "missing", "denied" or "changed"; throw an error of its own in `operation:validate`',
      );
    this.requirements.push({ test, otherwise });
  }
  whenBegun(listener: () => void | Promise<void>): void {
    this.begunListeners.push(listener);
  }
  lockAlso(find: LockFinder): void {
    this.lockFinders.push(find);
  }
  whenHeld(listener: (record: Row) => void | Promise<void>): void {
    this.heldListeners.push(listener);
  }
  whenWritten(listener: () => void | Promise<void>): void {
    this.writtenListeners.push(listener);
  }
  whenDecidedAgain(listener: AgainListener): void {
    if (this.scope.store.capabilities.concurrentTransactions) this.againListeners.push(listener);
  }
}

class SingleOperation extends GateOperation {
  readonly id: string | undefined;

  constructor(scope: GateScope, entity: AnyEntity, input: OperationInput) {
    super(scope, entity, input);
    this.id = input.id;
  }
}

class OperationOnSeveral extends GateOperation {
  /** A hook that reads `id` needs to see each record, even if it ignores the result. */
  get id(): never {
    this.apart = true;
    throw ONE_BY_ONE;
  }
}

/**
 * The `toJSON` of operations. A handler that returns an operation returns its records; input, caller and decision must
 * not reach the response.
 */
function recordsOf(this: { readonly records: readonly Row[] }): readonly Row[] {
  return this.records;
}

/** Runs work with the operation's scope replaced by a transaction's. */
export async function inTransaction<T>(operation: MutableOperation, work: () => Promise<T>): Promise<T> {
  const { scope } = operation;
  const ignored = operation.ignored.length;
  const inside = (inner: OperationScope): Promise<T> => {
    operation.scope = inner as GateScope;
    operation.ignored.length = ignored; // the work may run again
    return work();
  };
  try {
    return await scope.transaction(inside, { holdsInserts: true });
  } finally {
    operation.scope = scope;
  }
}

/**
 * The effect of a requirement that a record does not meet, in the order in which failures are reported:
 * - `"missing"`: the record does not exist for this operation: 404 for every caller.
 * - `"denied"`: this caller may not use it: 401, 403, or 404 where the entity hides forbidden records.
 * - a function that makes the error: for a state that the caller requires, such as 412.
 * - `"leave"`: the record is not changed, and no error is thrown.
 * - `"changed"`: the record differs from the one that a rule or a validator read. The input is validated again, at most
 *   three times; then 409. Such a requirement applies to one attempt.
 */
export type Otherwise = "missing" | "denied" | "leave" | "changed" | (() => Error);

/** The test of a requirement: a condition, or a function where a condition cannot express it, as for JSON. */
type RecordTest = Where | ((record: Row) => boolean);

/** A test, and the effect of its failure. */
export interface Requirement {
  readonly test: RecordTest;
  readonly otherwise: Otherwise;
}

const STAGES = ["missing", "denied", "asked", "leave", "changed"] as const;
type Stage = (typeof STAGES)[number];

const stageOf = ({ otherwise }: Requirement): Stage => (typeof otherwise === "function" ? "asked" : otherwise);

/** The conditions of an operation up to a stage; undefined if it has no such conditions. */
export function conditionUpTo(requirements: readonly Requirement[], last: Stage): Where | undefined {
  if (requirements.length === 0) return undefined;
  const end = STAGES.indexOf(last);
  const wheres = requirements
    .filter((one) => STAGES.indexOf(stageOf(one)) <= end)
    .map(({ test }) => test)
    .filter(isCondition);
  return allPresent(...wheres);
}

/** The requirements after `"missing"` and `"denied"`, in the order in which failures are reported. */
export function beyondReach(requirements: readonly Requirement[]): readonly Requirement[] {
  const beyond = requirements.filter((one) => STAGES.indexOf(stageOf(one)) > STAGES.indexOf("denied"));
  return beyond.sort((a, b) => STAGES.indexOf(stageOf(a)) - STAGES.indexOf(stageOf(b)));
}

export function isRequired(requirements: readonly Requirement[], stage: Stage): boolean {
  return requirements.some((one) => stageOf(one) === stage);
}

/** The tests that conditions cannot express; undefined if conditions are sufficient. */
export function testsOf(requirements: readonly Requirement[]): ((record: Row) => boolean) | undefined {
  const tests = requirements.map(({ test }) => test).filter((test) => typeof test === "function");
  return tests.length === 0 ? undefined : (record) => tests.every((test) => test(record));
}

function isCondition(test: RecordTest): test is Where {
  return typeof test !== "function";
}
