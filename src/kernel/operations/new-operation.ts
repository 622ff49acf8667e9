import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Row, Where } from "../ports/driver.ts";
import type { Precondition } from "../ports/precondition.ts";
import type { Principal } from "../ports/principal.ts";
import { recordsOf } from "../records/records-of.ts";
import { allPresent } from "../where/condition.ts";
import type { Decision, Operation, OperationInput, OperationKind, OperationQuery } from "./operation.ts";
import type { RequestScope } from "./request-scope.ts";

const ACCESS: Readonly<Record<OperationKind, Access>> = {
  create: "create",
  list: "read",
  read: "read",
  count: "read",
  update: "update",
  delete: "delete",
};

const NO_DATA: Record<string, unknown> = Object.freeze({});

/** The kernel's view of an operation: what hooks see as fixed is set here. */
export type MutableOperation = Omit<Operation, "scope" | "query"> & {
  scope: RequestScope;
  query: OperationQuery;
  readonly when: Where | undefined;
  precondition: Precondition | undefined;
  /** What the precondition comes to for this caller. */
  required?: Where | undefined;
  readonly ifFound: boolean;
  toJSON(): readonly Row[];
};

/** An operation that nobody has allowed yet. */
export function newOperation(scope: RequestScope, entity: AnyEntity, input: OperationInput): MutableOperation {
  return new GateOperation(scope, entity, input);
}

/** A class for the sake of its two conditions: hooks of several plugins add to them, and none can take away. */
class GateOperation implements MutableOperation {
  readonly kind: OperationKind;
  readonly access: Access;
  readonly rules: readonly string[] | undefined;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  scope: RequestScope;
  readonly id: string | undefined;
  readonly ids: readonly string[] | undefined;
  query: OperationQuery = {};
  readonly decision: Decision = { allowed: false, predicate: undefined, guard: undefined, rules: undefined };
  data = NO_DATA;
  readonly when: Where | undefined;
  precondition: Precondition | undefined;
  required: Where | undefined = undefined;
  readonly ifFound: boolean;
  expected: Where | undefined = undefined;
  isUnchanged: Operation["isUnchanged"] = undefined;
  whenHeld: Operation["whenHeld"] = undefined;
  joins: Operation["joins"] = undefined;
  bytes: Operation["bytes"];
  readonly ignored: string[] = [];
  transactional = false;
  apart = false;
  applied = true;
  records: Row[] = [];
  total: number | undefined = undefined;
  nextCursor: string | undefined = undefined;
  /** Its own, so that a copy of an operation has it, too. */
  readonly toJSON = recordsOf;
  #exists: Where | undefined = undefined;
  #extra: Where | undefined = undefined;

  constructor(scope: RequestScope, entity: AnyEntity, input: OperationInput) {
    this.kind = input.kind;
    this.access = input.access ?? ACCESS[input.kind];
    this.rules = input.rules;
    this.entity = entity;
    this.principal = scope.principal;
    this.scope = scope;
    this.id = input.id;
    this.ids = input.ids;
    this.when = input.when;
    this.precondition = input.precondition;
    this.ifFound = input.ifFound === true;
    this.bytes = input.bytes;
  }

  get existsWhere(): Where | undefined {
    return this.#exists;
  }
  /** Code in JavaScript may assign; that adds, too. */
  set existsWhere(where: Where | undefined) {
    this.#exists = allPresent(this.#exists, where);
  }
  get extraWhere(): Where | undefined {
    return this.#extra;
  }
  set extraWhere(where: Where | undefined) {
    this.#extra = allPresent(this.#extra, where);
  }
  require(where: Where): void {
    this.existsWhere = where;
  }
}
