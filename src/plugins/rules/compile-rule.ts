import { forDecisions, type Guard, type Row, type Where } from "../../kernel/index.ts";
import { askRule, isWhere, toOutcome } from "./ask-rule.ts";
import type { Ask, Outcome, Subject } from "./outcome.ts";
import { reportAnswer } from "./report.ts";
import type { Rule } from "./rule.ts";
import { createRuleContext } from "./rule-context.ts";

/** Stops a rule that looks at the record before there is one; nobody sees it. */
const recordNeeded = Object.freeze({ name: "RecordNeeded" });

const LOOKED_ON_LIST = "looks at `record`, which is null on lists; return a where or pass options.where";
const LOOKED_ON_ROUTE = "looks at `record`, which is null on endpoints";

/**
 * Makes a rule ready to be asked about one entity and access. Whether it needs the record is found out by asking it
 * without one, each time: if it does not look, its answer holds for the whole statement. Remembering that it looked
 * would let one caller's request decide whether another, whom the rule turns away unseen, gets 403 or 404.
 */
export function compileRule(rule: Rule): Ask {
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
