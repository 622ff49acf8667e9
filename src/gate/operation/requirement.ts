import { allPresent } from "../condition/compile-where.ts";
import type { Row, Where } from "../condition/where.ts";

/**
 * What it means that a record does not meet a requirement, in the order in which it is told:
 * - `"missing"`: the record is not there for this operation: 404 for every caller.
 * - `"denied"`: it is not this caller's: 401, 403, or 404 where the entity hides what is forbidden.
 * - a function, which makes the error: for state that the caller asked for, such as 412.
 * - `"leave"`: the record stays as it is, and that is no error.
 * - `"changed"`: it is no longer what a rule or a validator saw. What was submitted is validated again, three times at most;
 *   then 409. Such a requirement holds for one attempt.
 */
export type Otherwise = "missing" | "denied" | "leave" | "changed" | (() => Error);

/** What must hold of a record for an operation to apply: a condition, or a test where no condition can say it, as of JSON. */
export type RecordTest = Where | ((record: Row) => boolean);

/** A test, and what it means where it fails. */
export interface Requirement {
  readonly test: RecordTest;
  readonly otherwise: Otherwise;
}

const STAGES = ["missing", "denied", "asked", "leave", "changed"] as const;
type Stage = (typeof STAGES)[number];

const stageOf = ({ otherwise }: Requirement): Stage => (typeof otherwise === "function" ? "asked" : otherwise);

/** The conditions of an operation up to a stage; undefined without any. */
export function conditionUpTo(requirements: readonly Requirement[], last: Stage): Where | undefined {
  if (requirements.length === 0) return undefined;
  const end = STAGES.indexOf(last);
  const wheres = requirements
    .filter((one) => STAGES.indexOf(stageOf(one)) <= end)
    .map(({ test }) => test)
    .filter(isCondition);
  return allPresent(...wheres);
}

/** Requirements beyond those that say whether the caller reaches the record, in the order in which they are told. */
export function beyondReach(requirements: readonly Requirement[]): readonly Requirement[] {
  const beyond = requirements.filter((one) => STAGES.indexOf(stageOf(one)) > STAGES.indexOf("denied"));
  return beyond.sort((a, b) => STAGES.indexOf(stageOf(a)) - STAGES.indexOf(stageOf(b)));
}

export function isRequired(requirements: readonly Requirement[], stage: Stage): boolean {
  return requirements.some((one) => stageOf(one) === stage);
}

/** What no condition can say; undefined where the conditions say all. */
export function testsOf(requirements: readonly Requirement[]): ((record: Row) => boolean) | undefined {
  const tests = requirements.map(({ test }) => test).filter((test) => typeof test === "function");
  return tests.length === 0 ? undefined : (record) => tests.every((test) => test(record));
}

function isCondition(test: RecordTest): test is Where {
  return typeof test !== "function";
}
