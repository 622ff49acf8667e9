import { allOf, type Guard, type PolicyQuestion, type Where } from "../../gate/index.ts";
import { type Ask, type Findings, gather, type Outcome } from "./outcome.ts";

/** What an entity's rules come to for one access. */
export interface AccessPlan {
  readonly names: readonly string[];
  /** Whether `everyone` is among them: nothing has to be asked. */
  readonly open: boolean;
  readonly asks: readonly Ask[];
}

/**
 * Decides an operation: any rule that passes allows it; rules that pass for some records narrow it to those. Returns
 * a promise only when a rule did.
 */
export function decide(plan: AccessPlan, operation: PolicyQuestion): void | Promise<void> {
  const { decision } = operation;
  decision.rules = plan.names;
  if (plan.open) {
    decision.allowed = true;
    return;
  }
  const findings: Findings = { wheres: [], guards: [] };
  for (let i = 0; i < plan.asks.length; i++) {
    const outcome = (plan.asks[i] as Ask)(operation);
    if (outcome instanceof Promise) return decideRest(plan, operation, findings, outcome, i + 1);
    if (outcome === true) return conclude(operation, undefined);
    if (outcome !== false) gather(findings, outcome);
  }
  conclude(operation, findings);
}

async function decideRest(
  { asks }: AccessPlan,
  operation: PolicyQuestion,
  findings: Findings,
  first: Promise<Outcome>,
  next: number,
): Promise<void> {
  let outcome = await first;
  for (let i = next; ; i++) {
    if (outcome === true) return conclude(operation, undefined);
    if (outcome !== false) gather(findings, outcome);
    const ask = asks[i];
    if (ask === undefined) return conclude(operation, findings);
    outcome = await ask(operation);
  }
}

/** Writes the decision down: without findings everything is allowed, with empty ones nothing. */
function conclude({ decision }: PolicyQuestion, findings: Findings | undefined): void {
  if (findings !== undefined) {
    const { wheres, guards } = findings;
    if (wheres.length === 0 && guards.length === 0) return;
    if (wheres.length > 0) decision.predicate = wheres.length === 1 ? wheres[0] : { OR: wheres };
    if (guards.length > 0) decision.guard = anyOf(guards);
  }
  if (decision.reason !== undefined) decision.reason = undefined;
  decision.allowed = true;
}

/** Passes when one of them does; where they leave it to conditions, for records that meet one of these. */
export function anyOf(guards: readonly Guard[]): Guard {
  if (guards.length === 1) return guards[0] as Guard;
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

/** Several rules as one that passes when all of them do; their conditions stay conditions of the statement. */
export function askAll(asks: readonly Ask[]): Ask {
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
