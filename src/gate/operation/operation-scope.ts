import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { type Limits, type Logger, type Reply, type Scope, type ServiceToken, token } from "../../kernel/index.ts";
import type { EntityRef, Where } from "../condition/condition.ts";
import type { Driver } from "../statement/driver-port.ts";
import type { FieldMask, ShownRecords } from "./mask.ts";
import type { Decision, Operation, OperationInput } from "./operation.ts";
import type { Route, RouteContext } from "./route.ts";

/** What the gate says about a caller's use of a route. */
export interface RouteAccess {
  /** Whether the caller may use it, for some records or all. */
  readonly allowed: boolean;
  /** Whether that covers all that the route does; false where only its operations can decide. */
  readonly forAll: boolean;
  /** Names of the rules that decided, where plugins name them; an empty list denies every caller but the system. */
  readonly rules: readonly string[] | undefined;
}

/** How a scope runs a transaction. */
export interface ScopeTransactionOptions {
  /** Puts something around the driver that the statements of operations run on. @default nothing */
  readonly around?: (driver: Driver) => Driver;
  /**
   * Whether inserts that may be stored later are held and stored together. When the database refuses one of them, the
   * transaction is rolled back and the work runs again without. @default false
   */
  readonly holdsInserts?: boolean | undefined;
  /**
   * Begins the transaction with the first write, or the first transaction inside: what reads or waits before that holds
   * nothing. The function stands around the transaction, from before it begins until it has ended.
   * @default it begins at once
   */
  readonly late?: (<T>(transaction: () => Promise<T>) => Promise<T>) | undefined;
}

/** What all scopes of an app share. */
export interface ScopeApp {
  readonly model: EntityModel;
  readonly limits: Limits;
  readonly log: Logger;
  /** The app's time. */
  now(): Date;
}

/** What a caller may see and do. Nothing is decided before it is asked for, and each answer is kept for the scope. */
export interface ScopeAccess {
  /**
   * What the rules say about reading an entity's records in lists, without running anything; decided once per scope.
   */
  readDecision(entity: EntityRef): Promise<Decision>;
  /** Whether a list of an entity that includes nothing gives the rows under `readDecision`'s predicate, as they are stored. */
  listsPlainly(entity: EntityRef): boolean;
  /**
   * What the rules say about an operation, without running it.
   * @throws AuthenticationError, AuthorizationError when they refuse it
   */
  decide(input: OperationInput): Promise<Decision>;
  /**
   * Whether the caller may use a route, without running it: `route:authorize` hooks decide about its own rules, and
   * `operation:authorize` hooks about its operation. The system may use all routes.
   */
  mayUse(route: Route): Promise<RouteAccess>;
  /** The caller's field mask for an entity. */
  mask(entity: EntityRef): FieldMask;
  /** Entities whose mask depends on the caller and was requested. */
  readonly masked: readonly AnyEntity[];
  /**
   * Resolves when the mask is final; undefined when it is. Until then it may show too little.
   * @param entity @default all whose mask was requested
   */
  maskReady(entity?: EntityRef): Promise<void> | undefined;
}

/** What plugins note about the work of a scope. A transaction has its own, which begins as that of its scope. */
export interface ScopeState {
  /** The precondition that the first change of its record has to meet; used up by then. */
  precondition: Precondition | undefined;
  /**
   * A key shared by all attempts of a request that may be sent again, unique to its caller; undefined for other work.
   */
  idempotencyKey: string | undefined;
  /** Set by a surface that must know which records the response shows: every presented record is noted here. */
  shown: ShownRecords | undefined;
}

/** What happens on behalf of one caller: a request, a job, a call of the in-process client. */
export interface OperationScope extends Scope {
  readonly app: ScopeApp;
  readonly access: ScopeAccess;
  readonly state: ScopeState;
  /** The driver of the current transaction, or the app's. What it returns is masked on its way out, as operations' records are. */
  readonly driver: Driver;
  /** Whether it is a transaction's: work in it must not wait for other transactions, which may wait for its locks. */
  readonly isTransaction: boolean;
  /** Runs an operation through the gate, as this caller. */
  run(input: OperationInput): Promise<Operation>;
  /** Runs `work` with the system's rights, in the same transaction when there is one. */
  asSystem<T>(work: (scope: OperationScope) => Promise<T>): Promise<T>;
  /** Runs `work` with a scope whose driver belongs to one transaction; joins the transaction when there is one. */
  transaction<T>(work: (scope: OperationScope) => Promise<T>, options?: ScopeTransactionOptions): Promise<T>;
}

/** What must hold for a record before it is changed or deleted (RFC 9110, section 13). */
export interface Precondition {
  readonly entity: AnyEntity;
  readonly id: string;
  /**
   * Part of the statement itself. Asked once the rules have let the caller in; it never holds for a record that the
   * caller may not read.
   * @throws BadRequestError for a request whose condition cannot be parsed
   */
  where(): Where;
  /** The error when it does not hold, for callers who may change the record. */
  refusal(): Error;
}

/** The service `versions.requests`: the preconditions of requests. */
export interface RequestConditions {
  /** Makes the first change of the record carry the request's precondition. */
  expect(context: RouteContext): void;
  /**
   * Checks the same at once, after the rules: for code that changes the record in its own way, or not at all.
   * @param changes whether a request without a precondition is refused where the entity requires one
   * @throws BadRequestError, PreconditionFailedError, PreconditionRequiredError
   */
  check(context: RouteContext, changes: boolean): Promise<void> | undefined;
  /**
   * A response with one record and its tag; without the record for a reader who already has it.
   * @param version of the record; undefined when it has no version, or the caller may not see it
   * @throws BadRequestError, PreconditionFailedError to readers
   */
  answer(context: RouteContext, reply: Reply, version: unknown): Reply | Promise<Reply>;
}

/** The token of RequestConditions. */
export const RequestConditions: ServiceToken<RequestConditions> = token("versions.requests");
