import type { FieldQuestion, FieldRules, PluginContext, RowAccess } from "../../gate/index.ts";
import { compileName } from "./compile-plans.ts";
import { anyOf } from "./decide.ts";
import { type Ask, type Findings, gather, type Outcome } from "./outcome.ts";
import type { RuleTable } from "./rule-table.ts";

/** Rules as whoever guards fields asks them. */
export function createFieldRules({ problem }: PluginContext, table: RuleTable): FieldRules {
  return Object.freeze<FieldRules>({
    compile(names, entity, at) {
      const asks = names.map((name) => compileName(name, table, entity, (sentence) => problem(`${at}: ${sentence}`)));
      return (question) => askAny(asks, question);
    },
  });
}

function askAny(asks: readonly Ask[], question: FieldQuestion): boolean | RowAccess | Promise<boolean | RowAccess> {
  const findings: Findings = { wheres: [], guards: [] };
  for (let i = 0; i < asks.length; i++) {
    const outcome = (asks[i] as Ask)(question);
    if (outcome instanceof Promise) return askRest(asks, question, findings, outcome, i + 1);
    if (outcome === true) return true;
    if (outcome !== false) gather(findings, outcome);
  }
  return accessOf(findings);
}

async function askRest(
  asks: readonly Ask[],
  question: FieldQuestion,
  findings: Findings,
  first: Promise<Outcome>,
  next: number,
): Promise<boolean | RowAccess> {
  let outcome = await first;
  for (let i = next; ; i++) {
    if (outcome === true) return true;
    if (outcome !== false) gather(findings, outcome);
    const ask = asks[i];
    if (ask === undefined) return accessOf(findings);
    outcome = await ask(question);
  }
}

function accessOf({ wheres, guards }: Findings): boolean | RowAccess {
  if (wheres.length === 0 && guards.length === 0) return false;
  return {
    predicate: wheres.length > 1 ? { OR: wheres } : wheres[0],
    guard: guards.length === 0 ? undefined : anyOf(guards),
  };
}
