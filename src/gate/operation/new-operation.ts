import type { Access, AnyEntity } from "../../entity/index.ts";
import { InternalError, type Principal } from "../../kernel/index.ts";
import type { Row } from "../condition/where.ts";
import {
  ACCESS,
  type Decision,
  type Operation,
  type OperationInput,
  type OperationKind,
  type OperationQuery,
} from "./operation.ts";
import type { Precondition } from "./precondition.ts";
import { recordsOf } from "./records-of.ts";
import type { Otherwise, RecordTest, Requirement } from "./requirement.ts";
import type { GateScope } from "./runtime.ts";

const NO_QUERY: OperationQuery = Object.freeze({});
const NO_DATA: Record<string, unknown> = Object.freeze({});

/** The kernel's view of an operation: what hooks see as fixed is set here. */
export type MutableOperation = Omit<Operation, "scope" | "query"> & {
  scope: GateScope;
  query: OperationQuery;
  precondition: Precondition | undefined;
  readonly requirements: Requirement[];
  readonly heldListeners: readonly ((record: Row) => void | Promise<void>)[];
  readonly writtenListeners: readonly (() => void | Promise<void>)[];
  readonly ifFound: boolean;
  toJSON(): readonly Row[];
};

/** A new operation; it is denied until a policy or a hook allows it. */
export function newOperation(scope: GateScope, entity: AnyEntity, input: OperationInput): MutableOperation {
  return new GateOperation(scope, entity, input);
}

/** Ends an operation on several records that need one each. Never leaves the gate. */
export const ONE_BY_ONE: Error = new InternalError("Each record needs an operation of its own");

/** An operation on several records that has been run. It has no one record; while it ran, to ask for one was to see each. */
export function settled(operation: Operation): Operation {
  return Object.defineProperty(operation, "id", { value: undefined });
}

class GateOperation implements MutableOperation {
  readonly kind: OperationKind;
  readonly access: Access;
  readonly rules: readonly string[] | undefined;
  readonly entity: AnyEntity;
  readonly principal: Principal;
  scope: GateScope;
  readonly id: string | undefined;
  readonly ids: readonly string[] | undefined;
  query: OperationQuery;
  readonly decision: Decision = { allowed: false, predicate: undefined, guard: undefined, rules: undefined };
  data = NO_DATA;
  precondition: Precondition | undefined;
  readonly requirements: Requirement[] = [];
  readonly heldListeners: ((record: Row) => void | Promise<void>)[] = [];
  readonly writtenListeners: (() => void | Promise<void>)[] = [];
  readonly ifFound: boolean;
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

  constructor(scope: GateScope, entity: AnyEntity, input: OperationInput) {
    this.kind = input.kind;
    this.access = input.access ?? ACCESS[input.kind];
    this.rules = input.rules;
    this.entity = entity;
    this.principal = scope.principal;
    this.scope = scope;
    this.id = input.id;
    this.ids = input.ids;
    if (input.ids !== undefined)
      Object.defineProperty(this, "id", { get: () => this.#refuseOneId(), enumerable: false, configurable: true });
    this.precondition = input.precondition;
    this.ifFound = input.ifFound === true;
    this.bytes = input.bytes;
    this.query = typeof input.query === "object" ? input.query : NO_QUERY;
  }

  /** A hook that asks for the one record has to see each, even if it goes on without. */
  #refuseOneId(): never {
    this.apart = true;
    throw ONE_BY_ONE;
  }

  /**
   * @throws InternalError for a function where no record is loaded for it: anything but an update or a delete; for an error of
   * one's own or `"leave"` where nothing is stored yet: a create
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
  whenHeld(listener: (record: Row) => void | Promise<void>): void {
    this.heldListeners.push(listener);
  }
  whenWritten(listener: () => void | Promise<void>): void {
    this.writtenListeners.push(listener);
  }
}
