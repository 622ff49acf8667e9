import { type AnyEntity, createModel } from "../../entity/index.ts";
import { compileWhere, isAlways, matches, type Observation, observe, type Row, type Where } from "../../gate/index.ts";
import { getLogger, isPromiseLike, type Principal, safeLogger, UnavailableError } from "../../kernel/index.ts";
import { partsOfAll } from "./all.ts";
import { isWhere } from "./ask-rule.ts";
import { type Reported, reportAnswer, reportFailure } from "./report.ts";
import type { Rule, RuleContext } from "./rule.ts";
import { createRuleTable } from "./rule-table.ts";
import { unaskable } from "./unaskable.ts";

/**
 * What a rule is given outside every app, where there is no driver, no service and no request.
 */
class DetachedContext implements RuleContext {
  readonly user: RuleContext["user"];
  readonly isAdmin: boolean;
  readonly operation: RuleContext["operation"];
  readonly entity: AnyEntity;
  readonly request = undefined;
  readonly #record: Row | null | undefined;
  #isMissingRecord = false;

  constructor(
    { user, isAdmin }: Principal,
    operation: RuleContext["operation"],
    entity: AnyEntity,
    record: Row | null | undefined,
  ) {
    this.user = user;
    this.isAdmin = isAdmin;
    this.operation = operation;
    this.entity = entity;
    this.#record = record;
  }

  /** Whether the rule looked at a record that nobody has. */
  get isMissingRecord(): boolean {
    return this.#isMissingRecord;
  }
  get record(): Row | null {
    if (this.#record !== undefined) return this.#record;
    this.#isMissingRecord = true;
    throw new UnavailableError("There is no record to look at");
  }
  get driver(): never {
    throw new UnavailableError("It needs the driver, and a filter has only the record");
  }
  get resolve(): never {
    throw new UnavailableError("It needs a service, and a filter has only the record");
  }
}

/** Whether any of some rules passes; `record` is what they may look at, undefined when there is none. */
export type JudgeField = (names: readonly string[], entity: AnyEntity, record: Row | undefined) => boolean;

/** What names mean where no app says otherwise. */
const table = createRuleTable([], () => {});
/** Without an app there are no related records: a condition on them cannot be compiled, and so does not hold. */
const unrelated = createModel([]);

/**
 * Decides field rules at once, outside every app, on nothing but the record. What that cannot tell is a no: a rule that
 * waits, throws, reaches for the driver or a service, or looks at a column the record does not have.
 */
export function createFieldJudge(principal: Principal, kind: "read" | "create" | "update"): JudgeField {
  const log = warnOnce();

  function passes(name: string, entity: AnyEntity, record: Row | undefined): boolean {
    const parts = partsOfAll(name);
    if (parts !== undefined) return parts.every((part) => passes(part, entity, record));
    const found = table.find(name, entity);
    if ("rule" in found) return judge(found.rule, entity, record);
    log.warn(`${entity.name}: ${found.problem}`, { rule: name, operation: kind });
    return false;
  }

  function judge(rule: Rule, entity: AnyEntity, record: Row | undefined): boolean {
    const subject: Reported = { kind, entity, scope: { log, requestId: undefined } };
    const seen = record && observe(entity, record);
    // As in an app: a `where` decides about all stored records, and is asked without one.
    const { where } = rule;
    const isListed = where !== undefined && kind !== "create";
    const context = new DetachedContext(principal, kind, entity, isListed ? null : seen?.record);
    let answer: unknown;
    try {
      answer = isListed ? where(context) : rule.evaluate(context);
    } catch (error) {
      if (!context.isMissingRecord) reportFailure(rule.name, subject, error);
      return false;
    }
    if (isPromiseLike(answer)) {
      answer.then(undefined, () => {}); // an unheard rejection would end the process
      reportAnswer(rule.name, subject, "answers with a promise, and a filter does not wait");
      return false;
    }
    if (context.isMissingRecord) return false; // it looked, and went on regardless
    const holds = answer === true || (isWhere(answer) && seen !== undefined && satisfies(entity, answer, seen));
    return holds && (record === undefined || isComplete(entity, record, seen));
  }

  return (names, entity, record) => names.some((name) => passes(name, entity, record));
}

function satisfies(entity: AnyEntity, where: Where, { record }: Observation): boolean {
  if (Object.keys(where).length === 0) return false;
  try {
    const condition = compileWhere(unrelated, entity, where);
    return !isAlways(condition) && unaskable(condition) === undefined && matches(condition, record, () => []);
  } catch {
    return false;
  }
}

/**
 * Whether everything that was looked at is there: a missing value is unknown, not empty. Nor is `["ann"]` the text that
 * JavaScript compares it as.
 */
function isComplete(entity: AnyEntity, record: Row, seen: Observation | undefined): boolean {
  const isKnown = (name: string): boolean =>
    record[name] === null || !!entity.columns[name]?.kind.accepts(record[name]);
  return seen === undefined || [...seen.columns()].every(isKnown);
}

/** The process's logger; says a thing once, however many records it is true of. */
function warnOnce(): Reported["scope"]["log"] {
  const logger = safeLogger(getLogger());
  const said = new Set<string>();
  return {
    warn(message, meta) {
      if (said.has(message)) return;
      said.add(message);
      logger.warn(message, meta);
    },
  };
}
