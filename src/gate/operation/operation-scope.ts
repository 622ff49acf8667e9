import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import type { HttpExchange, Limits, Logger, Reply, Scope } from "../../kernel/index.ts";
import type { EntityRef, Where } from "../condition/condition.ts";
import type { Driver } from "../statement/driver.ts";
import type { FieldMask, ShownRecords } from "./mask.ts";
import type { Decision, Operation, OperationInput } from "./operation.ts";
import type { Route, RouteContext } from "./route.ts";

/** What the gate says about a caller's use of a route. */
export interface RouteAccess {
  /** Whether the caller may use it, for some records or all. */
  readonly allowed: boolean;
  /** Whether that is so for all that the route does; false where only its operations know. */
  readonly forAll: boolean;
  /** Names of the rules that were asked, where plugins name them; an empty list denies every caller but the system. */
  readonly rules: readonly string[] | undefined;
}

/** How a scope runs a transaction. */
export interface ScopeTransactionOptions {
  /** Puts something around the driver that the statements of operations run on. @default nothing */
  readonly around?: (driver: Driver) => Driver;
  /**
   * Begins the transaction with the first write, or the first transaction inside: what reads or waits before that holds
   * nothing. The function stands around the transaction, from before it begins until it has ended.
   * @default it begins at once
   */
  readonly late?: (<T>(transaction: () => Promise<T>) => Promise<T>) | undefined;
}

/** What happens on behalf of one caller: a request, a job, a call of the in-process client. */
export interface OperationScope extends Scope {
  /** The driver of the current transaction, or the app's. What it returns is masked on its way out, as operations' records are. */
  readonly driver: Driver;
  /** Whether it is a transaction's: work in it must not wait for other transactions, which may wait for its locks. */
  readonly isTransaction: boolean;
  readonly model: EntityModel;
  readonly limits: Limits;
  readonly log: Logger;
  readonly signal: AbortSignal | undefined;
  /** The framework's own request object, when the surface is HTTP. */
  readonly request: unknown;
  /** The request that is being answered, and headers for its answer; undefined for work in the process. */
  readonly exchange: HttpExchange | undefined;
  /** What the first change of its record asks of it; then it has been asked. In a transaction it is that transaction's. */
  precondition: Precondition | undefined;
  /** One word for all tries of a request that may be sent again, unique to its caller; undefined for any other work. */
  idempotencyKey: string | undefined;
  /** Set by a surface that must know which records the response shows: every record that is presented is noted here. */
  shown: ShownRecords | undefined;
  /** The app's time. */
  now(): Date;
  /** Runs an operation through the gate, as this caller. */
  run(input: OperationInput): Promise<Operation>;
  /** What the rules say about reading an entity's records in lists, without running anything; asked once per scope. */
  readDecision(entity: EntityRef): Promise<Decision>;
  /** Whether a list of an entity that includes nothing gives the rows under `readDecision`'s predicate, as they are stored. */
  listsPlainly(entity: EntityRef): boolean;
  /**
   * What the rules say about an operation, without running it: for surfaces that do something else for its sake.
   * @throws AuthenticationError, AuthorizationError when they refuse it
   */
  decide(input: OperationInput): Promise<Decision>;
  /**
   * Whether the caller may use a route, without running it: asks `route:authorize` hooks about rules of its own, and
   * `operation:authorize` hooks about its operation. The system may use all routes.
   */
  mayUse(route: Route): Promise<RouteAccess>;
  /** The caller's field mask for an entity. */
  mask(entity: EntityRef): FieldMask;
  /** Entities whose mask depends on the caller and was asked for. */
  readonly masked: readonly AnyEntity[];
  /**
   * Resolves when the mask is final; undefined when it is. Until then it shows less than it may turn out to.
   * @param entity @default all whose mask was asked for
   */
  maskReady(entity?: EntityRef): Promise<void> | undefined;
  /** Runs `work` with the system's rights, in the same transaction when there is one. */
  asSystem<T>(work: (scope: OperationScope) => Promise<T>): Promise<T>;
  /** Runs `work` with a scope whose driver is one transaction's; joins the transaction when there is one. */
  transaction<T>(work: (scope: OperationScope) => Promise<T>, options?: ScopeTransactionOptions): Promise<T>;
}

/** What must be so of a record before it is changed or deleted (RFC 9110, section 13). */
export interface Precondition {
  readonly entity: AnyEntity;
  readonly id: string;
  /**
   * Part of the statement itself. Asked once the rules have let the caller in; it holds of no record that the caller may
   * not read.
   * @throws BadRequestError for a request whose condition cannot be parsed
   */
  where(): Where;
  /** What those are told who may change the record, when it does not hold. */
  refusal(): Error;
}

/** The service `versions.requests`: what requests ask of the record that they are about. */
export interface RequestConditions {
  /** Has the first change of the record carry what the request asks of it. */
  expect(context: RouteContext): void;
  /**
   * The same asked at once, after the rules: for what changes the record in ways of its own, or not at all.
   * @param changes whether a request that asks nothing is refused where the entity requires it
   * @throws BadRequestError, PreconditionFailedError, PreconditionRequiredError
   */
  check(context: RouteContext, changes: boolean): Promise<void> | undefined;
  /**
   * An answer that is one record, with its tag; without the record for a reader who has it.
   * @param version of the record; undefined when it has none, or none that the caller sees
   * @throws BadRequestError, PreconditionFailedError to readers
   */
  answer(context: RouteContext, reply: Reply, version: unknown): Reply | Promise<Reply>;
}
