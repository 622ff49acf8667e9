import type { Row } from "../../kernel/index.ts";
import type { Subject } from "./outcome.ts";
import type { RuleContext } from "./rule.ts";

/** What a rule is given. `record` is a getter, because whether a rule looks at it is worth knowing. */
export function createRuleContext(subject: Subject, record: () => Row | null): RuleContext {
  const { scope, principal } = subject;
  return {
    user: principal.user,
    isAdmin: principal.isAdmin,
    operation: subject.kind,
    entity: subject.entity,
    resolve: <T>(id: string) => scope.services.resolve<T>(id),
    get record() {
      return record();
    },
    get driver() {
      return scope.driver;
    },
    get request() {
      return scope.request;
    },
  };
}
