import type { Access, AnyEntity } from "../../entity/index.ts";
import type { Decision, Guard, OperationKind, OperationScope, Where } from "../../gate/index.ts";
import type { Principal } from "../../kernel/index.ts";

/** What is being decided: an operation, or the use of an endpoint. */
export interface Subject {
  readonly kind: OperationKind | "route";
  /** Which of the entity's rules are asked. @default those of the kind */
  readonly access?: Access | undefined;
  readonly entity: AnyEntity | undefined;
  readonly principal: Principal;
  readonly scope: OperationScope;
  readonly decision?: Decision | undefined;
  /** Set when a rule asks for more than who the caller is: of several records, each is then decided about by itself. */
  apart?: boolean | undefined;
}

/** A rule's answer: yes, no, for the records that match, or to be asked again with the record. */
export type Outcome = boolean | Where | Guard;

/** A rule made ready for one entity and access. Answers without a promise when the rule does. */
export type Ask = (subject: Subject) => Outcome | Promise<Outcome>;

/** Answers gathered so far that hold for some records only. */
export interface Findings {
  readonly wheres: Where[];
  readonly guards: Guard[];
}

/** Adds an answer that is neither yes nor no. */
export function gather(findings: Findings, outcome: Where | Guard): void {
  if (typeof outcome === "function") findings.guards.push(outcome);
  else findings.wheres.push(outcome);
}
