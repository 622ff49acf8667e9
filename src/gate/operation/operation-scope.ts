import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import { type Limits, type Logger, type Reply, type Scope, type ServiceToken, token } from "../../kernel/index.ts";
import type { EntityRef, Where } from "../condition/condition.ts";
import type { Driver } from "../statement/driver-port.ts";
import type { FieldMask } from "./mask.ts";
import type { Decision, Operation, OperationInput } from "./operation.ts";
import type { Route, RouteContext } from "./route.ts";
import type { ShownRecords } from "./shown-records.ts";

/** The gate's decision on a caller's use of a route. */
export interface RouteAccess {
  /** Whether the caller may use the route for some or all records. */
  readonly allowed: boolean;
  /** Whether the decision covers everything the route does; false when its operations decide. */
  readonly forAll: boolean;
  /** Names of the rules that decided, if plugins name them. An empty list denies every caller but the system. */
  readonly rules: readonly string[] | undefined;
}

/** Options of a scope's transaction. */
export interface ScopeTransactionOptions {
  /** Wraps the driver that runs the statements of operations. @default no wrapper */
  readonly around?: (driver: Driver) => Driver;
  /**
   * Whether deferrable inserts are held and stored together. If the database refuses one of them, the transaction is
   * rolled back and the work runs again without holding inserts. @default false
   */
  readonly holdsInserts?: boolean | undefined;
  /**
   * Begins the transaction with the first write or the first inner transaction, so that earlier reads and waits hold no
   * locks. The function wraps the transaction, from before it begins until it has ended.
   * @default it begins immediately
   */
  readonly late?: (<T>(transaction: () => Promise<T>) => Promise<T>) | undefined;
}

/** The state that all scopes of an app share. */
export interface ScopeApp {
  readonly model: EntityModel;
  readonly limits: Limits;
  readonly log: Logger;
  /** The app's time. */
  now(): Date;
}

/** The access of a caller. Decisions are made on first use and kept for the scope. */
export interface ScopeAccess {
  /** The rules' decision on listing an entity's records, without running an operation. Decided once per scope. */
  readDecision(entity: EntityRef): Promise<Decision>;
  /** Whether a list of an entity without includes returns exactly the stored rows under `readDecision`'s predicate. */
  listsPlainly(entity: EntityRef): boolean;
  /**
   * The rules' decision on an operation, without running it.
   * @throws AuthenticationError, AuthorizationError when they refuse it
   */
  decide(input: OperationInput): Promise<Decision>;
  /**
   * Whether the caller may use a route, without running it. `route:authorize` hooks decide on the route's own rules,
   * `operation:authorize` hooks on its operation. The system may use all routes.
   */
  mayUse(route: Route): Promise<RouteAccess>;
  /** The caller's field mask for an entity. */
  mask(entity: EntityRef): FieldMask;
  /** The entities whose mask was requested and depends on the caller. */
  readonly masked: readonly AnyEntity[];
  /**
   * Resolves when the mask is final; undefined when it already is. Until then the mask may show too few fields.
   * @param entity @default all entities whose mask was requested
   */
  maskReady(entity?: EntityRef): Promise<void> | undefined;
}

/** State that plugins keep for a scope. A transaction has its own copy of the state of its scope. */
export interface ScopeState {
  /** The precondition for the first change to its record, which consumes it. */
  precondition: Precondition | undefined;
  /** A key shared by all attempts of a repeatable request, unique to its caller; undefined for other work. */
  idempotencyKey: string | undefined;
  /** Set by a surface that needs to know the records in a response: every presented record is noted here. */
  shown: ShownRecords | undefined;
}

/** The work of one caller: a request, a job, or a call of the in-process client. */
export interface OperationScope extends Scope {
  readonly app: ScopeApp;
  readonly access: ScopeAccess;
  readonly state: ScopeState;
  /**
   * The driver of the current transaction, or the app's. Its records are masked in responses like those of operations.
   */
  readonly driver: Driver;
  /**
   * Whether the scope belongs to a transaction. Its work must not wait for other transactions, which may wait for its
   * locks.
   */
  readonly isTransaction: boolean;
  /** Runs an operation through the gate, as this caller. */
  run(input: OperationInput): Promise<Operation>;
  /** Runs `work` with the system's rights, in the same transaction when there is one. */
  asSystem<T>(work: (scope: OperationScope) => Promise<T>): Promise<T>;
  /** Runs `work` with a new scope of the same caller, which decides anew what they may do, in the same transaction. */
  anew<T>(work: (scope: OperationScope) => Promise<T>): Promise<T>;
  /**
   * Runs `work` with a scope whose driver belongs to one transaction; joins the current transaction if there is one.
   */
  transaction<T>(work: (scope: OperationScope) => Promise<T>, options?: ScopeTransactionOptions): Promise<T>;
}

/** A condition on a record that must hold before it is changed or deleted (RFC 9110, section 13). */
export interface Precondition {
  readonly entity: AnyEntity;
  readonly id: string;
  /**
   * Returns a condition that becomes part of the statement. Called after the rules have allowed the caller. It never
   * holds for a record that the caller may not read.
   * @throws BadRequestError when the request's condition cannot be parsed
   */
  where(): Where;
  /** The error to report to callers who may change the record when the condition does not hold. */
  refusal(): Error;
}

/** The service `versions.requests`: the preconditions of requests. */
export interface RequestConditions {
  /** Applies the request's precondition to the first change to the record. */
  expect(context: RouteContext): void;
  /**
   * Checks the precondition immediately, after the rules: for code that does not change the record through an
   * operation.
   * @param changes whether a request without a precondition is refused when the entity requires one
   * @throws BadRequestError, PreconditionFailedError, PreconditionRequiredError
   */
  check(context: RouteContext, changes: boolean): Promise<void> | undefined;
  /**
   * Adds the record's tag to a response; answers without the record when the reader already has it.
   * @param version the record's version; undefined when it has none, or the caller may not see it
   * @throws BadRequestError, PreconditionFailedError to readers
   */
  answer(context: RouteContext, reply: Reply, version: unknown): Reply | Promise<Reply>;
}

/** The token of RequestConditions. */
export const RequestConditions: ServiceToken<RequestConditions> = token("versions.requests");
