import { type Access, type AnyEntity, ruleName } from "../../entity/index.ts";
import {
  type Driver,
  forDecisions,
  type Guard,
  type OperationKind,
  type PluginContext,
  type Row,
  type Where,
  withMiddleware,
} from "../../gate/index.ts";
import { didYouMean, type User } from "../../kernel/index.ts";
import { partsOfAll } from "./all.ts";
import { askRule, isWhere, toOutcome } from "./ask-rule.ts";
import { BUILT_IN_RULES, everyone } from "./built-in-rules.ts";
import { type AccessPlan, askAll } from "./decide.ts";
import type { Ask, Outcome, Subject } from "./outcome.ts";
import { reportAnswer } from "./report.ts";
import type { Rule, RuleContext } from "./rule.ts";
import type { RuleTable } from "./rule-table.ts";

const made = new WeakMap<Driver, Driver>();

/** The driver of a scope as rules get it: a value that cannot be decrypted is not null to them, looking at it throws. */
function decidingDriver(driver: Driver): Driver {
  const known = made.get(driver) ?? overlay(driver);
  made.set(driver, known);
  return known;
}

function overlay(inner: Driver): Driver {
  return withMiddleware(inner, async (statement, next) =>
    statement.kind === "find" ? (await next(statement)).map(forDecisions) : next(statement),
  );
}

/**
 * What a rule is given. A class, because one is made per rule and operation, and getters on a prototype cost a
 * tenth of getters on an object literal. `record` is a getter, because whether a rule looks at it is worth knowing.
 */
class Context implements RuleContext {
  readonly user: User | null;
  readonly isAdmin: boolean;
  readonly operation: OperationKind | "route";
  readonly entity: AnyEntity | undefined;
  readonly #subject: Subject;
  readonly #record: () => Row | null;

  constructor(subject: Subject, record: () => Row | null) {
    this.user = subject.principal.user;
    this.isAdmin = subject.principal.isAdmin;
    this.operation = whatIsDone(subject);
    this.entity = subject.entity;
    this.#subject = subject;
    this.#record = record;
  }

  get record(): Row | null {
    return this.#record();
  }
  // What a rule finds in the database, or hears from a service, may be another thing once a record has changed.
  get driver(): Driver {
    this.#subject.apart = true;
    return decidingDriver(this.#subject.scope.driver);
  }
  get request(): unknown {
    return this.#subject.scope.request;
  }
  // A getter too: rules take `resolve` out of its object.
  get resolve(): <T = unknown>(id: string) => T {
    this.#subject.apart = true;
    return (id) => this.#subject.scope.services.resolve(id);
  }
}

/**
 * An action on a record reads it by the rules of update, say: what is being done is an update then. A rule that passes
 * for every read must not pass for it. Where rules about creating are asked as about a list, nobody is about to own a
 * new record: that is the use of an endpoint.
 */
function whatIsDone({ kind, access = "read" }: Subject): OperationKind | "route" {
  if (access === "read") return kind;
  return access === "create" && kind === "list" ? "route" : access;
}

/** What a rule is given when it is asked about a subject; `record` is called when the rule looks at the record. */
function createRuleContext(subject: Subject, record: () => Row | null): RuleContext {
  return new Context(subject, record);
}

/** Stops a rule that looks at the record before there is one; nobody sees it. */
const recordNeeded = Object.freeze({ name: "RecordNeeded" });

const LOOKED_ON_LIST = "looks at `record`, which is null on lists; return a where or pass options.where";
const LOOKED_ON_ROUTE = "looks at `record`, which is null on endpoints";

/**
 * Makes a rule ready to be asked about one entity and access. Whether it needs the record is found out by asking it
 * without one, each time: if it does not look, its answer holds for the whole statement. Remembering that it looked
 * would let one caller's request decide whether another, whom the rule turns away unseen, gets 403 or 404.
 */
function compileRule(rule: Rule): Ask {
  const { name } = rule;
  let hasWarned = false;

  function onRecord(subject: Subject): Outcome | Promise<Outcome> {
    const guard: Guard = (record) => decideOnRecord(rule, subject, record);
    let looked = false;
    const context = createRuleContext(subject, () => {
      looked = true;
      throw recordNeeded;
    });
    return askRule(
      name,
      subject,
      () => rule.evaluate(context),
      (answer) => (looked ? guard : toOutcome(name, subject, answer)),
    );
  }

  function onList(subject: Subject): Outcome | Promise<Outcome> {
    let looked = false;
    const context = createRuleContext(subject, () => {
      looked = true;
      return null;
    });
    return askRule(
      name,
      subject,
      () => rule.evaluate(context),
      (answer) => {
        if (!looked || isWhere(answer)) return toOutcome(name, subject, answer);
        const problem = subject.kind === "route" ? LOOKED_ON_ROUTE : LOOKED_ON_LIST;
        if (subject.decision !== undefined) subject.decision.reason = `rule "${name}" ${problem}`;
        if (!hasWarned) reportAnswer(name, subject, problem);
        hasWarned = true;
        return false;
      },
    );
  }

  return (subject) => {
    const { kind } = subject;
    const { where } = rule;
    if (kind === "route") return onList(subject);
    // Wherever there are stored records a `where` decides in the statement itself, without loading one first.
    if (where !== undefined && kind !== "create") {
      const context = createRuleContext(subject, () => null);
      return askRule(name, subject, () => where(context));
    }
    return kind === "list" || kind === "count" ? onList(subject) : onRecord(subject);
  };
}

async function decideOnRecord(rule: Rule, subject: Subject, record: Row): Promise<boolean | Where> {
  const context = createRuleContext(subject, () => forDecisions(record));
  const outcome = await askRule(rule.name, subject, () => rule.evaluate(context));
  return typeof outcome === "function" ? false : outcome;
}

const ACCESSES: readonly Access[] = ["create", "read", "update", "delete"];

/** The plans of one entity. */
export type EntityPlans = Readonly<Record<Access, AccessPlan>>;

/** Makes the rules of all entities ready, and reports those that cannot work. */
export function compilePlans(
  { entities, config, problem }: PluginContext,
  table: RuleTable,
): ReadonlyMap<AnyEntity, EntityPlans> {
  for (const key of Object.keys(config.defaultRules))
    if (!ACCESSES.includes(key as Access))
      problem(`defaultRules: there is no access "${key}", only ${ACCESSES.join(", ")}.${didYouMean(key, ACCESSES)}`);
  const compile = (entity: AnyEntity, accesses: readonly Access[]): [AnyEntity, EntityPlans] => {
    const plans = ACCESSES.map((access) => {
      // Default rules are for entities that say nothing; a key that is missing denies.
      const rules = entity.rules === undefined ? config.defaultRules : entity.rules;
      const names = accesses.includes(access) ? (rules[access] ?? []).map(ruleName) : [];
      const at =
        entity.rules === undefined ? `${entity.name} (defaultRules.${access})` : `${entity.name}.rules.${access}`;
      return [access, compilePlan(names, table, entity, (sentence) => problem(`${at}: ${sentence}`))];
    });
    return [entity, Object.freeze(Object.fromEntries(plans)) as EntityPlans];
  };
  return new Map([
    ...entities.entities.map((entity) => compile(entity, ACCESSES)),
    // Nobody here writes what another service keeps, so its rules for that need not be known.
    ...entities.foreign.map((entity) => compile(entity, ["read"])),
  ]);
}

/** Makes a list of rules ready. */
export function compilePlan(
  names: readonly string[],
  table: RuleTable,
  entity: AnyEntity,
  problem: (sentence: string) => void,
): AccessPlan {
  const compiled = names.map((name) => [name, compileName(name, table, entity, problem)] as const);
  // Built-in rules cost nothing, so they are asked before those that may ask a database.
  const cheapFirst = [
    ...compiled.filter(([name]) => BUILT_IN_RULES.has(name)),
    ...compiled.filter(([name]) => !BUILT_IN_RULES.has(name)),
  ];
  return Object.freeze({
    names: Object.freeze(names),
    open: names.includes(everyone.name),
    asks: cheapFirst.map(([, ask]) => ask),
  });
}

/** Makes the rule of a name ready. One that is unknown is reported, and denies. */
export function compileName(
  name: string,
  table: RuleTable,
  entity: AnyEntity | undefined,
  problem: (sentence: string) => void,
): Ask {
  const parts = partsOfAll(name);
  if (parts !== undefined) return askAll(parts.map((part) => compileName(part, table, entity, problem)));
  const found = table.find(name, entity);
  if ("problem" in found) {
    problem(found.problem);
    return () => false;
  }
  const reason = entity && found.rule.check?.(entity);
  if (reason !== undefined) problem(`rule "${name}" cannot work here: ${reason}`);
  return compileRule(found.rule);
}
