import type { AnyEntity } from "../../entity/index.ts";
import type { Driver, OperationKind, Row, Where } from "../../gate/index.ts";
import type { User } from "../../kernel/index.ts";

/**
 * What a rule may look at. Take properties out of it, or pass it on as it is: they are looked up when they are read, so a
 * copy made by spreading has not all of them.
 */
export interface RuleContext {
  /** Who asks; `null` for anonymous callers. */
  readonly user: User | null;
  /** Whether the app's `isAdmin` holds for the caller. */
  readonly isAdmin: boolean;
  /**
   * The record in question; on create, the values about to be stored. `null` on lists, counts and endpoints: there a
   * rule returns a `where`, or takes `options.where`.
   */
  readonly record: Row | null;
  /** What is being done; "route" for an endpoint of a plugin, and for an action with rules of its own that is about no record. */
  readonly operation: OperationKind | "route";
  /** Absent on endpoints that belong to no entity. */
  readonly entity: AnyEntity | undefined;
  /** The driver of the current transaction, without rules. */
  readonly driver: Driver;
  /** A service of the request's scope. */
  resolve<T = unknown>(id: string): T;
  /** The web framework's own request, when there is one. */
  readonly request: unknown;
}

/** `true` passes, a `where` passes for the records it matches; everything else denies. */
export type RuleResult = boolean | Where | null | undefined;
/** Decides a rule: true, false, or a condition on the records. */
export type RuleFunction = (context: RuleContext) => RuleResult | Promise<RuleResult>;
/** The form of a rule that decides by a `where` alone, without a record. */
export type ListRuleFunction = (context: Omit<RuleContext, "record">) => RuleResult | Promise<RuleResult>;

/** A rule as frozen data. Entities refer to it by its name. */
export interface Rule {
  readonly name: string;
  readonly evaluate: RuleFunction;
  /** Asked instead of `evaluate` wherever there are stored records: on everything but create and endpoints. */
  readonly where?: ListRuleFunction | undefined;
  /** Why the rule can never work on an entity, as a sentence for the start-up report; undefined when it can. */
  readonly check?: ((entity: AnyEntity) => string | undefined) | undefined;
}

/** What may be said about a rule besides its function. */
export type RuleOptions = Pick<Rule, "where" | "check">;
