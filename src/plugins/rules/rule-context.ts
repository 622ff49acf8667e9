import type { AnyEntity } from "../../entity/index.ts";
import type { Driver, OperationKind, Row, User } from "../../kernel/index.ts";
import type { Subject } from "./outcome.ts";
import type { RuleContext } from "./rule.ts";

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
    this.operation = subject.kind;
    this.entity = subject.entity;
    this.#subject = subject;
    this.#record = record;
  }

  get record(): Row | null {
    return this.#record();
  }
  get driver(): Driver {
    return this.#subject.scope.driver;
  }
  get request(): unknown {
    return this.#subject.scope.request;
  }
  // A getter too: rules take `resolve` out of its object.
  get resolve(): <T = unknown>(id: string) => T {
    return (id) => this.#subject.scope.services.resolve(id);
  }
}

/** What a rule is given when it is asked about a subject; `record` is called when the rule looks at the record. */
export function createRuleContext(subject: Subject, record: () => Row | null): RuleContext {
  return new Context(subject, record);
}
