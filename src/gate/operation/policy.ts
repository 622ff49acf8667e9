import type { AnyEntity } from "../../entity/index.ts";
import { type Hook, InternalError, isPromiseLike, runHooks } from "../../kernel/index.ts";
import { allOf, allPresent } from "../condition/compile-where.ts";
import type { Row, Where } from "../condition/condition.ts";
import type { Guard } from "./mask.ts";
import { conditionUpTo, type MutableOperation, type Requirement } from "./new-operation.ts";
import type { Decision, Operation, OperationKind, OperationQuery } from "./operation.ts";

/** The input of a policy: the caller, the kind of operation and the entity. It contains neither conditions nor data. */
export interface PolicyQuestion
  extends Pick<
    Operation,
    "kind" | "access" | "rules" | "entity" | "principal" | "scope" | "decision" | "apart" | "require"
  > {
  /** Whether deleted records are requested. */
  readonly query: Pick<OperationQuery, "deleted">;
}

/**
 * Decides what callers may do, independent of the query, so that the decision applies to lists, includes, counts,
 * exports and writes of several records alike. Several policies combine by AND.
 */
export interface Policy {
  /** Used in error messages. */
  readonly name: string;
  /** Called once per pair when the app starts. @default all entities and kinds */
  appliesTo?(entity: AnyEntity, kind: OperationKind): boolean;
  /**
   * Allows or denies the operation, or restricts the records, by setting `decision`, which denies at first. It is not
   * called for the system. An app in which no policy and no hook decides denies everything.
   */
  allows?(question: PolicyQuestion): void | Promise<void>;
  /** Restricts with `require` which records exist, also for the system. Not called for create. */
  visible?(question: PolicyQuestion): void | Promise<void>;
}

/** A policy and the plugin that declared it. */
export interface DeclaredPolicy {
  readonly plugin: string;
  readonly policy: Policy;
}

/** Turns the `allows` or `visible` functions of policies into hooks. */
export function policyHooks(
  declared: readonly DeclaredPolicy[],
  says: "allows" | "visible",
  timeout: number,
): readonly Hook<Operation>[] {
  return declared
    .filter(({ policy }) => policy[says] !== undefined)
    .map(({ plugin, policy }, index) => ({
      run: (operation) =>
        says === "visible" ? askVisible(policy, operation) : askAllowed(policy, operation, index === 0),
      plugin,
      name: `policy:${policy.name}`,
      timeout,
      options: {},
    }));
}

/**
 * Runs policies, then hooks, to decide whether an operation is allowed. Returns a promise only if one of them is
 * asynchronous.
 */
export function authorize(
  plan: { readonly authorize: readonly Hook<Operation>[] },
  operation: MutableOperation,
): void | Promise<void> {
  const asked = runHooks(plan.authorize, operation);
  return asked === undefined ? conclude(operation) : asked.then(() => conclude(operation));
}

function conclude(operation: MutableOperation): void {
  refuseGuard(operation);
  if (operation.requirements.length > 0) takeRequired(operation);
}

/**
 * Moves requirements that policies and hooks added while deciding into the decision, so that they also apply to new and
 * changed records. On a create, `"missing"` counts as `"denied"`.
 */
function takeRequired({ kind, decision, requirements }: MutableOperation): void {
  const isRule = ({ otherwise }: Requirement): boolean =>
    otherwise === "denied" || (kind === "create" && otherwise === "missing");
  const predicate = conditionUpTo(requirements.filter(isRule), "denied");
  if (predicate === undefined || !decision.allowed) return;
  Object.assign(decision, both(decision, { allowed: true, predicate }));
  requirements.splice(0, requirements.length, ...requirements.filter((one) => !isRule(one)));
}

function askVisible(policy: Policy, operation: Operation): void | Promise<void> {
  const asked: unknown = policy.visible?.(operation);
  if (isPromiseLike(asked)) return Promise.resolve(asked).then((answer) => refuseAnswer(policy, "visible", answer));
  refuseAnswer(policy, "visible", asked);
}

/**
 * The first policy sets the operation's decision; each further one makes its own decision, which is combined with it.
 */
function askAllowed(policy: Policy, operation: Operation, isFirst: boolean): void | Promise<void> {
  const { decision } = operation;
  if (!isFirst && !decision.allowed) return;
  const own: Decision = isFirst ? decision : { allowed: false };
  const question: PolicyQuestion = isFirst ? operation : Object.create(operation, { decision: { value: own } });
  const asked: unknown = policy.allows?.(question);
  const finish = (answer: unknown): void => {
    refuseAnswer(policy, "allows", answer);
    refuseMistakes(policy, own);
    if (isFirst) return;
    refuseGuard(operation);
    refuseGuard(question);
    if (question.apart) operation.apart = true;
    Object.assign(decision, both(decision, own));
  };
  return isPromiseLike(asked) ? Promise.resolve(asked).then(finish) : finish(asked);
}

/** @throws InternalError for a return value, which would have no effect */
function refuseAnswer({ name }: Policy, says: "allows" | "visible", answer: unknown): void {
  if (answer === undefined) return;
  const instead = says === "visible" ? "call `question.require(where)`" : "set `question.decision`";
  throw new InternalError(
    `Policy "${name}" returned something from "${says}", which has no effect; ${instead} instead`,
  );
}

/** @throws InternalError for a decision that would allow more than intended */
function refuseMistakes({ name }: Policy, { allowed, predicate }: Decision): void {
  if (typeof allowed !== "boolean") throw new InternalError(`Policy "${name}" set "allowed" to neither true nor false`);
  if (predicate !== undefined && Object.keys(predicate).length === 0)
    throw new InternalError(`Policy "${name}" set an empty predicate; leave it out to allow all records`);
}

/**
 * Removes the guard of a list or a count, which cannot run guards: only records that meet the predicate are returned.
 */
function refuseGuard({ kind, decision }: Pick<Operation, "kind" | "decision">): void {
  if (decision.guard === undefined || (kind !== "list" && kind !== "count")) return;
  decision.guard = undefined;
  if (decision.predicate === undefined) decision.allowed = false;
}

/** Combines two decisions: both must allow. */
export function both(one: Decision, other: Decision): Decision {
  const isSilent = one.rules === undefined && other.rules === undefined;
  const rules = isSilent ? undefined : [...(one.rules ?? []), ...(other.rules ?? [])];
  if (!one.allowed || !other.allowed) return { allowed: false, predicate: undefined, guard: undefined, rules };
  const needsGuard = one.guard !== undefined || other.guard !== undefined;
  const isForGuards = [one, other].some(({ predicate, guard }) => predicate === undefined && guard !== undefined);
  return {
    allowed: true,
    predicate: isForGuards ? undefined : allPresent(one.predicate, other.predicate),
    guard: needsGuard ? guardOf({ ...one }, { ...other }) : undefined,
    rules,
  };
}

function guardOf(one: Decision, other: Decision): Guard {
  return async (record) => {
    const left = await allowsOf(one, record);
    if (left === false) return false;
    const right = await allowsOf(other, record);
    if (left === true || right === false) return right;
    return right === true ? left : allOf(left, right);
  };
}

/**
 * The decision on a record: true, false, or a condition that it must meet. What the condition needs may have changed
 * while the guard ran, so it includes the predicate.
 */
export async function allowsOf(
  { predicate, guard }: Pick<Decision, "predicate" | "guard">,
  record: Row,
): Promise<boolean | Where> {
  if (guard === undefined) return predicate ?? true;
  const answer = await guard(record);
  if (answer === true || predicate === undefined) return answer;
  return answer === false ? predicate : { OR: [predicate, answer] };
}
