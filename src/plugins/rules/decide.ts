import { type Access, type AnyEntity, ruleName } from "../../entity/index.ts";
import {
  allOf,
  type Guard,
  type PluginContext,
  type PolicyQuestion,
  type RowAccess,
  type Where,
} from "../../gate/index.ts";
import { didYouMean } from "../../kernel/index.ts";
import { type Ask, compileRule, type Outcome, type Subject } from "./ask-rule.ts";
import { BUILT_IN_RULES, everyone, partsOfAll } from "./rule.ts";
import type { RuleTable } from "./rule-table.ts";

/** An entity's compiled rules for one access. */
export interface AccessPlan {
  readonly names: readonly string[];
  /** Whether `everyone` is among them, so that nothing has to be evaluated. */
  readonly open: boolean;
  readonly asks: readonly Ask[];
}

/** Decides an operation by its rules. Returns a promise only if a rule does. */
export function decide(plan: AccessPlan, operation: PolicyQuestion): void | Promise<void> {
  operation.decision.rules = plan.names;
  if (plan.open) {
    operation.decision.allowed = true;
    return;
  }
  const answer = askAny(plan.asks, operation);
  return answer instanceof Promise ? answer.then((late) => conclude(operation, late)) : conclude(operation, answer);
}

function conclude({ decision }: PolicyQuestion, answer: boolean | RowAccess): void {
  if (answer === false) return;
  if (answer !== true) {
    if (answer.predicate !== undefined) decision.predicate = answer.predicate;
    if (answer.guard !== undefined) decision.guard = answer.guard;
  }
  if (decision.reason !== undefined) decision.reason = undefined;
  decision.allowed = true;
}

/**
 * Evaluates rules one after the other until one passes. Returns true, false, or the access to some records. Returns a
 * promise only if a rule does.
 */
export function askAny(asks: readonly Ask[], subject: Subject): boolean | RowAccess | Promise<boolean | RowAccess> {
  const findings: Findings = { wheres: [], guards: [] };
  for (let i = 0; i < asks.length; i++) {
    const outcome = (asks[i] as Ask)(subject);
    if (outcome instanceof Promise) return askRest(asks, subject, findings, outcome, i + 1);
    if (outcome === true) return true;
    gather(findings, outcome);
  }
  return anyOf(findings);
}

async function askRest(
  asks: readonly Ask[],
  subject: Subject,
  findings: Findings,
  first: Promise<Outcome>,
  next: number,
): Promise<boolean | RowAccess> {
  let outcome = await first;
  for (let i = next; ; i++) {
    if (outcome === true) return true;
    gather(findings, outcome);
    const ask = asks[i];
    if (ask === undefined) return anyOf(findings);
    outcome = await ask(subject);
  }
}

/** Collected results that hold only for some records. */
interface Findings {
  readonly wheres: Where[];
  readonly guards: Guard[];
}

function gather({ wheres, guards }: Findings, outcome: false | Where | Guard): void {
  if (typeof outcome === "function") guards.push(outcome);
  else if (outcome !== false) wheres.push(outcome);
}

function anyOf({ wheres, guards }: Findings): false | RowAccess {
  if (wheres.length === 0 && guards.length === 0) return false;
  return {
    predicate: wheres.length > 1 ? { OR: wheres } : wheres[0],
    guard: guards.length > 1 ? anyGuard(guards) : guards[0],
  };
}

/** Passes if one of the guards does. If guards return conditions instead, the record must satisfy one of them. */
function anyGuard(guards: readonly Guard[]): Guard {
  return async (record) => {
    const wheres: Where[] = [];
    for (const guard of guards) {
      const answer = await guard(record);
      if (answer === true) return true;
      if (answer !== false) wheres.push(answer);
    }
    return wheres.length > 0 && { OR: wheres };
  };
}

/** Combines rules into one that passes if all of them do. Their conditions stay conditions of the statement. */
function askAll(asks: readonly Ask[]): Ask {
  return async (subject) => {
    const findings: Findings = { wheres: [], guards: [] };
    for (const ask of asks) {
      const outcome = await ask(subject);
      if (outcome === false) return false;
      if (outcome !== true) gather(findings, outcome);
    }
    return conjunction(findings);
  };
}

function conjunction({ wheres, guards }: Findings): Outcome {
  if (guards.length === 0) return wheres.length === 0 ? true : allOf(...wheres);
  return async (record) => {
    const all = [...wheres];
    for (const guard of guards) {
      const answer = await guard(record);
      if (answer === false) return false;
      if (answer !== true) all.push(answer);
    }
    return all.length === 0 ? true : allOf(...all);
  };
}

const ACCESSES: readonly Access[] = ["create", "read", "update", "delete"];

type EntityPlans = Readonly<Record<Access, AccessPlan>>;

/** Compiles the rules of all entities, and reports rules that cannot work. */
export function compilePlans(
  { entities, config, problem }: PluginContext,
  table: RuleTable,
): ReadonlyMap<AnyEntity, EntityPlans> {
  for (const key of Object.keys(config.defaultRules))
    if (!ACCESSES.includes(key as Access))
      problem(`defaultRules: there is no access "${key}", only ${ACCESSES.join(", ")}.${didYouMean(key, ACCESSES)}`);
  const compile = (entity: AnyEntity, accesses: readonly Access[]): [AnyEntity, EntityPlans] => {
    const plans = ACCESSES.map((access) => {
      // Default rules are for entities without any rules. Otherwise a missing access denies.
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
    // This app does not write records of other services, so only their read rules are compiled.
    ...entities.foreign.map((entity) => compile(entity, ["read"])),
  ]);
}

/** Compiles a list of rules. */
export function compilePlan(
  names: readonly string[],
  table: RuleTable,
  entity: AnyEntity,
  problem: (sentence: string) => void,
): AccessPlan {
  const compiled = names.map((name) => [name, compileName(name, table, entity, problem)] as const);
  // Built-in rules are cheap, so they are evaluated before rules that may query a database.
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

/** Compiles a rule by name. An unknown rule is reported and denies. */
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
