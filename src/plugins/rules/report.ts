import { describeError, type Logger, UnavailableError } from "../../kernel/index.ts";
import type { Subject } from "./outcome.ts";

/** What was being decided, as far as the log is concerned. */
export interface Reported extends Pick<Subject, "entity" | "kind"> {
  readonly scope: { readonly log: Pick<Logger, "warn">; readonly requestId: string | undefined };
}

/** What the log says about a rule: where it was asked, never what it saw. */
function facts(name: string, { entity, kind, scope }: Reported): Record<string, unknown> {
  return { rule: name, entity: entity?.name, operation: kind, requestId: scope.requestId };
}

/** A rule gave an answer that is none. */
export function reportAnswer(name: string, subject: Reported, problem: string): void {
  subject.scope.log.warn(`Rule "${name}" ${problem}; it denies`, facts(name, subject));
}

/** A rule threw, or took too long. */
export function reportFailure(name: string, subject: Reported, error: unknown): void {
  subject.scope.log.warn(`Rule "${name}" failed; it denies`, { ...facts(name, subject), ...describe(error) });
}

function describe(error: unknown): Record<string, unknown> {
  if (error instanceof UnavailableError) return { error: error.message };
  const { stack, ...known } = describeError(error, 0);
  return Array.isArray(stack) ? { ...known, at: stack[0] } : known;
}
