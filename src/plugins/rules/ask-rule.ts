import { isKeelsonError } from "../../entity/index.ts";
import { compileWhere, isAlways, type Where } from "../../gate/index.ts";
import { isPromiseLike, withDeadline } from "../../kernel/index.ts";
import type { Outcome, Subject } from "./outcome.ts";
import { reportAnswer, reportFailure } from "./report.ts";
import { unaskable } from "./unaskable.ts";

const kFailure: unique symbol = Symbol("failure");

/**
 * Calls a rule and interprets what it says. A promise is made only when the rule makes one, and is waited for no longer
 * than `limits.ruleMs`. Never throws: a rule that throws has said no.
 */
export function askRule(
  name: string,
  subject: Subject,
  call: () => unknown,
  interpret: (answer: unknown) => Outcome = (answer) => toOutcome(name, subject, answer),
): Outcome | Promise<Outcome> {
  let answer: unknown;
  try {
    answer = call();
    if (!isPromiseLike(answer)) return interpret(answer);
  } catch (error) {
    return interpret({ [kFailure]: error });
  }
  const bounded = withDeadline(answer, subject.scope.limits.ruleMs, `Rule "${name}"`);
  return bounded.then(interpret, (error: unknown) => interpret({ [kFailure]: error }));
}

/** Only strict `true` and a `where` that can be compiled pass; an empty one is more likely a mistake than “all”. */
export function toOutcome(name: string, subject: Subject, answer: unknown): Outcome {
  if (answer === true || answer === false) return answer;
  if (answer === null) return false;
  const refuse = (problem: string): false => {
    reportAnswer(name, subject, problem);
    return false;
  };
  if (!isPlainObject(answer)) return refuse("returned neither true, false nor a where");
  if (kFailure in answer) {
    reportFailure(name, subject, answer[kFailure]);
    return false;
  }
  const { entity, kind, scope } = subject;
  if (entity === undefined || kind === "route") return false;
  if (Object.keys(answer).length === 0) return refuse("returned an empty where; return true for all records");
  try {
    const condition = compileWhere(scope.model, entity, answer);
    if (isAlways(condition)) return refuse("returned a where that every record matches; return true for all records");
    const name = unaskable(condition);
    if (name !== undefined)
      return refuse(
        `returned a where that cannot be used ("${name}" is encrypted; only .encrypted({ searchable: true }) can be compared)`,
      );
  } catch (error) {
    return refuse(`returned a where that cannot be used (${isKeelsonError(error) ? error.message : "not plain data"})`);
  }
  return answer;
}

/** Whether a rule answered with a `where`. */
export function isWhere(answer: unknown): answer is Where {
  return isPlainObject(answer) && !(kFailure in answer);
}

function isPlainObject(value: unknown): value is Where & { readonly [kFailure]?: unknown } {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
