import type { AnyEntity } from "../../entity/index.ts";
import type { Driver, OperationKind, Row, User } from "../../kernel/index.ts";
import { decidingDriver } from "./deciding-driver.ts";
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
 * for every read must not pass for it.
 */
function whatIsDone({ kind, access = "read" }: Subject): OperationKind | "route" {
  return access === "read" ? kind : access;
}

/** What a rule is given when it is asked about a subject; `record` is called when the rule looks at the record. */
export function createRuleContext(subject: Subject, record: () => Row | null): RuleContext {
  return new Context(subject, record);
}
