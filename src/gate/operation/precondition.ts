import type { AnyEntity } from "../../entity/index.ts";
import type { Reply } from "../../kernel/index.ts";
import type { Where } from "../condition/where.ts";
import type { RouteContext } from "./route.ts";

/** What must be so of a record before it is changed or deleted (RFC 9110, section 13). */
export interface Precondition {
  readonly entity: AnyEntity;
  readonly id: string;
  /**
   * Part of the statement itself. Asked once the rules have let the caller in; it holds of no record that the caller may
   * not read.
   * @throws BadRequestError for a request whose condition cannot be parsed
   */
  where(): Where;
  /** What those are told who may change the record, when it does not hold. */
  refusal(): Error;
}

/** The service `versions.requests`: what requests ask of the record that they are about. */
export interface RequestConditions {
  /** Has the first change of the record carry what the request asks of it. */
  expect(context: RouteContext): void;
  /**
   * The same asked at once, after the rules: for what changes the record in ways of its own, or not at all.
   * @param changes whether a request that asks nothing is refused where the entity requires it
   * @throws BadRequestError, PreconditionFailedError, PreconditionRequiredError
   */
  check(context: RouteContext, changes: boolean): Promise<void> | undefined;
  /**
   * An answer that is one record, with its tag; without the record for a reader who has it.
   * @param version of the record; undefined when it has none, or none that the caller sees
   * @throws BadRequestError, PreconditionFailedError to readers
   */
  answer(context: RouteContext, reply: Reply, version: unknown): Reply | Promise<Reply>;
}
