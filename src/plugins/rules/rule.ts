import { type AnyEntity, ConfigurationError, foreignKeyOf, type RuleObject, ruleName } from "../../entity/index.ts";
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

/**
 * The column that holds the owner's id: a foreign key, or "id" when a record is its own owner. Undefined when no caller
 * owns such records.
 */
export function ownerKeyOf(entity: AnyEntity): string | undefined {
  const { ownedBy } = entity;
  if (ownedBy === undefined || ownedBy === "id") return ownedBy;
  const relation = Object.hasOwn(entity.relations, ownedBy) ? entity.relations[ownedBy] : undefined;
  return relation === undefined ? undefined : foreignKeyOf(ownedBy, relation);
}

/** Whether the caller is logged in with a valid id: an id that is not a text must never equal anything. */
export function isIdentified(user: User | null): user is User {
  return user !== null && typeof user.id === "string" && user.id !== "";
}

function owns({ user, entity, operation }: RuleContext): RuleResult {
  const key = entity === undefined ? undefined : ownerKeyOf(entity);
  if (key === undefined || !isIdentified(user)) return false;
  // The caller who creates a record becomes its owner, except where a record owns itself.
  return operation === "create" ? key !== "id" : { [key]: user.id };
}

function needsOwner(entity: AnyEntity): string | undefined {
  return ownerKeyOf(entity) === undefined ? 'it needs .ownedBy("…") on the entity' : undefined;
}

/** Passes always, for anonymous callers too (spec section 5). */
export const everyone: Rule = Object.freeze<Rule>({ name: "everyone", evaluate: () => true });

/** Passes when the caller is logged in (spec section 5). */
export const authenticated: Rule = Object.freeze<Rule>({
  name: "authenticated",
  evaluate: ({ user }) => isIdentified(user),
});

/** Passes for administrators, as the app's `isAdmin` tells them (spec section 5). */
export const admin: Rule = Object.freeze<Rule>({ name: "admin", evaluate: ({ isAdmin }) => isAdmin });

/** Passes for records that belong to the caller by `.ownedBy`; on create the caller becomes the owner (spec section 5). */
export const owner: Rule = Object.freeze<Rule>({ name: "owner", evaluate: owns, check: needsOwner });

/** Passes for administrators, and for records that belong to the caller (spec section 5). */
export const ownerOrAdmin: Rule = Object.freeze<Rule>({
  name: "ownerOrAdmin",
  evaluate: (context) => (context.isAdmin ? true : owns(context)),
  check: needsOwner,
});

/** The rules every app has, by name. They need neither database nor waiting, so they are asked first. */
export const BUILT_IN_RULES: ReadonlyMap<string, Rule> = new Map(
  [everyone, authenticated, admin, owner, ownerOrAdmin].map((rule) => [rule.name, rule]),
);

/** No brackets and commas: they are the syntax of `all(a,b)`. */
const NAME = /^[^\s(),](?:[^(),]*[^\s(),])?$/;

/**
 * Every rule that was ever defined, so that an entity can refer to it by name. It holds definitions, never decisions:
 * apps share nothing but the names, and of two rules with one name neither applies until an app says which one it means.
 */
const defined = new Map<string, Rule | "ambiguous">();
/** By name; "ambiguous" where several were defined. */
export const definedRules: ReadonlyMap<string, Rule | "ambiguous"> = defined;

/**
 * Defines a rule. `fn({ user, isAdmin, record, operation, entity, driver, resolve, request })` returns `true` (passes), a
 * `where` (passes for the records it matches; not empty) or anything else (denied), at once or as a promise within one
 * second (`limits.ruleMs`). A rule that throws denies, and is logged.
 *
 * On lists and counts `record` is `null`. A rule that looks at it has to return a `where`, or take `options.where`;
 * otherwise it denies the list. `options.where` is asked instead of `fn` on everything but create and endpoints, so that
 * the statement itself decides and no record is loaded first.
 *
 * A definition that is given the rule itself means this rule. By its name it is known to every app of the process; when
 * two rules are defined under one name, an app that uses the name must be given the one it means:
 * `keelson({ rules: [mine] })`.
 *
 * @param name any text without brackets and commas; not one of the built-in names
 * @throws ConfigurationError for a name that cannot be used, or a rule that is no function
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

/** Several rules that must all pass, as entities refer to them. */
export interface AllOfRules extends RuleObject {
  /** `all(a,b)`; means the same when it is written out as text. */
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

/** The parts of a name that `all` made; undefined for any other name. */
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
