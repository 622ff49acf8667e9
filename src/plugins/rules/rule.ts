import { type AnyEntity, ConfigurationError, foreignKeyOf, type RuleObject, ruleName } from "../../entity/index.ts";
import type { Driver, OperationKind, Row, Where } from "../../gate/index.ts";
import type { User } from "../../kernel/index.ts";

/**
 * The context of a rule. Destructure it or pass it on, but do not copy it by spreading: its properties are getters, and
 * the copy would not have all of them.
 */
export interface RuleContext {
  /** The caller; `null` for anonymous callers. */
  readonly user: User | null;
  /** Whether the app's `isAdmin` holds for the caller. */
  readonly isAdmin: boolean;
  /**
   * The record; on create, the values that are about to be stored. `null` on lists, counts and endpoints, where a rule
   * returns a `where` or has `options.where`.
   */
  readonly record: Row | null;
  /**
   * The operation; "route" for a plugin's endpoint, and for an action with its own rules that is not about a record.
   */
  readonly operation: OperationKind | "route";
  /** Undefined on endpoints without an entity. */
  readonly entity: AnyEntity | undefined;
  /** The driver of the current transaction, without rules. */
  readonly driver: Driver;
  /** A service of the request's scope. */
  resolve<T = unknown>(id: string): T;
  /** The web framework's own request, when there is one. */
  readonly request: unknown;
}

/** `true` passes, and a `where` passes for the records that it matches. All other values deny. */
export type RuleResult = boolean | Where | null | undefined;
/** Decides a rule: returns true, false, or a condition on the records. */
export type RuleFunction = (context: RuleContext) => RuleResult | Promise<RuleResult>;
/** Decides a rule by a `where` alone, without a record. */
export type ListRuleFunction = (context: Omit<RuleContext, "record">) => RuleResult | Promise<RuleResult>;

/** A rule as frozen data. Entities refer to it by its name. */
export interface Rule {
  readonly name: string;
  readonly evaluate: RuleFunction;
  /** Evaluated instead of `evaluate` for stored records: for all operations except create and endpoints. */
  readonly where?: ListRuleFunction | undefined;
  /** Returns why the rule can never work on an entity, as a sentence for the start-up report; undefined if it can. */
  readonly check?: ((entity: AnyEntity) => string | undefined) | undefined;
}

/** Options of a rule. */
export type RuleOptions = Pick<Rule, "where" | "check">;

/**
 * The column with the owner's id: a foreign key, or "id" if a record is its own owner. Undefined if records have no
 * owner.
 */
export function ownerKeyOf(entity: AnyEntity): string | undefined {
  const { ownedBy } = entity;
  if (ownedBy === undefined || ownedBy === "id") return ownedBy;
  const relation = Object.hasOwn(entity.relations, ownedBy) ? entity.relations[ownedBy] : undefined;
  return relation === undefined ? undefined : foreignKeyOf(ownedBy, relation);
}

/** Whether the caller is logged in with a valid id. An id that is not a text must never equal anything. */
export function isIdentified(user: User | null): user is User {
  return user !== null && typeof user.id === "string" && user.id !== "";
}

function owns({ user, entity, operation }: RuleContext): RuleResult {
  const key = entity === undefined ? undefined : ownerKeyOf(entity);
  if (key === undefined || !isIdentified(user)) return false;
  // The caller who creates a record becomes its owner, unless records own themselves.
  return operation === "create" ? key !== "id" : { [key]: user.id };
}

function needsOwner(entity: AnyEntity): string | undefined {
  return ownerKeyOf(entity) === undefined ? 'it needs .ownedBy("…") on the entity' : undefined;
}

/** Always passes, even for anonymous callers (spec section 5). */
export const everyone: Rule = Object.freeze<Rule>({ name: "everyone", evaluate: () => true });

/** Passes when the caller is logged in (spec section 5). */
export const authenticated: Rule = Object.freeze<Rule>({
  name: "authenticated",
  evaluate: ({ user }) => isIdentified(user),
});

/** Passes for administrators, as defined by the app's `isAdmin` (spec section 5). */
export const admin: Rule = Object.freeze<Rule>({ name: "admin", evaluate: ({ isAdmin }) => isAdmin });

/** Passes for records that the caller owns by `.ownedBy`. On create, the caller becomes the owner (spec section 5). */
export const owner: Rule = Object.freeze<Rule>({ name: "owner", evaluate: owns, check: needsOwner });

/** Passes for administrators, and for records that the caller owns (spec section 5). */
export const ownerOrAdmin: Rule = Object.freeze<Rule>({
  name: "ownerOrAdmin",
  evaluate: (context) => (context.isAdmin ? true : owns(context)),
  check: needsOwner,
});

/** The built-in rules by name. They are synchronous and need no database, so they are evaluated first. */
export const BUILT_IN_RULES: ReadonlyMap<string, Rule> = new Map(
  [everyone, authenticated, admin, owner, ownerOrAdmin].map((rule) => [rule.name, rule]),
);

/** Names without brackets and commas, which are the syntax of `all(a,b)`. */
const NAME = /^[^\s(),](?:[^(),]*[^\s(),])?$/;

/**
 * All rules that were ever defined, so that entities can refer to them by name. It only contains definitions, never
 * decisions: apps share nothing but the names. Of several rules with the same name, none applies until an app selects
 * one.
 */
const defined = new Map<string, Rule | "ambiguous">();
/** Rules by name; "ambiguous" if several were defined. */
export const definedRules: ReadonlyMap<string, Rule | "ambiguous"> = defined;

/**
 * Defines a rule. `fn({ user, isAdmin, record, operation, entity, driver, resolve, request })` returns `true` (passes),
 * a `where` (passes for the records that it matches; must not be empty) or any other value (denies), directly or as a
 * promise within one second (`limits.ruleMs`). A rule that throws denies, and is logged.
 *
 * On lists and counts, `record` is `null`. A rule that reads it must return a `where` or have `options.where`;
 * otherwise it denies the list. `options.where` is evaluated instead of `fn` for all operations except create and
 * endpoints, so that the statement decides and no record is loaded first.
 *
 * Entities can refer to the rule itself or to its name. A name is known to every app of the process. If two rules have
 * the same name, an app that uses the name must select one: `keelson({ rules: [mine] })`.
 *
 * @param name any text without brackets and commas, except the built-in names
 * @throws ConfigurationError for an invalid name, or a rule that is not a function
 * @example
 * const teamMember = defineRule("teamMember", ({ user }) => (user ? { team: { members: { id: user.id } } } : false))
 */
export function defineRule(name: string, fn: RuleFunction, options: RuleOptions = {}): Rule {
  if (typeof name !== "string" || !NAME.test(name))
    throw new ConfigurationError("defineRule needs a name without brackets and commas");
  if (BUILT_IN_RULES.has(name))
    throw new ConfigurationError(`defineRule: "${name}" is a built-in rule; use another name`);
  if (typeof fn !== "function") throw new ConfigurationError(`defineRule("${name}") needs a function`);
  if (options.where !== undefined && typeof options.where !== "function")
    throw new ConfigurationError(`defineRule("${name}"): options.where must be a function that returns a where`);
  const rule: Rule = Object.freeze({ name, evaluate: fn, where: options.where, check: options.check });
  defined.set(name, defined.has(name) ? "ambiguous" : rule);
  return rule;
}

/** Several rules that must all pass. */
export interface AllOfRules extends RuleObject {
  /** `all(a,b)`. The same text can be written instead. */
  readonly name: string;
  readonly parts: readonly (string | RuleObject)[];
}

/**
 * Combines rules with “and”, where a plain list means “or”: `read: [admin, all(owner, verified)]`.
 * @throws ConfigurationError without rules
 */
export function all(...rules: readonly (string | RuleObject)[]): AllOfRules {
  if (rules.length === 0) throw new ConfigurationError("all() needs at least one rule");
  return Object.freeze({ name: `all(${rules.map(ruleName).join(",")})`, parts: Object.freeze([...rules]) });
}

/** The parts of a name that `all` made; undefined for other names. */
export function partsOfAll(name: string): readonly string[] | undefined {
  if (!name.startsWith("all(") || !name.endsWith(")")) return undefined;
  const parts: string[] = [];
  let depth = 0;
  let start = 4;
  for (let i = start; i < name.length; i++) {
    const char = name[i];
    const isEnd = i === name.length - 1;
    if (isEnd || (char === "," && depth === 0)) {
      parts.push(name.slice(start, i).trim());
      start = i + 1;
    } else if (char === "(") depth++;
    else if (char === ")") depth--;
  }
  return parts;
}
