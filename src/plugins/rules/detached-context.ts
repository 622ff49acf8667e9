import type { AnyEntity } from "../../entity/index.ts";
import { type Principal, type Row, UnavailableError } from "../../kernel/index.ts";
import type { RuleContext } from "./rule.ts";

/**
 * What a rule is given outside every app, where there is no driver, no service and no request.
 */
export class DetachedContext implements RuleContext {
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
